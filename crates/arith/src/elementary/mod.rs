//! Elementary functions: branch-free polynomials that LLVM vectorizes and PTX runs unchanged.
//!
//! Every function is a fixed chain of correctly rounded operations (`+ - * /`, [`fma`], comparisons, integer
//! operations on bits), so its value depends on its argument alone. Bounds are the largest errors measured over all
//! 2^32 arguments, in units in the last place of the exact result.

mod exp;
mod fma;
mod logarithm;
mod logistic;
mod power;
#[doc(hidden)]
pub mod soft;
mod tanh;
mod trig;

pub use exp::exp;
pub use fma::{fma, sqrt};
pub use logarithm::{ln, ln_1p, softplus};
pub use logistic::{sigmoid, sigmoid_pair};
pub use power::powf;
pub use tanh::tanh;
pub use trig::{cos, sin};
