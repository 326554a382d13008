//! Exact weights: non-negative f32 as 64-bit fixed point, so that sums are integers and exact in any order.
//!
//! A weight `w` becomes `q = round(w * 2^S)`, ties to even, and at least 1 unless `w` is zero. One [`Scale`] serves a
//! whole set of weights; it is chosen so that no total of the set can reach 2^63. Draws are integers in `[0, total)`
//! ([`bounded`]): a weight of zero owns no integer, and no rounding can lead past the end.

mod convert;
mod draw;
mod error;
mod scale;
mod validate;

pub use convert::{to_f32, to_f64};
pub use draw::bounded;
pub use error::FixedError;
pub use scale::{MAX_LEAVES, Scale};
pub use validate::{is_weight, largest_weight, largest_weight_with};
