//! The global gradient norm, and clipping by it.

use std::ops::Range;

use arith::simd::Isa;

use super::error::Error;
use crate::loss::sum::sum_chunks;

/// What a gradient's norm was, and what to multiply the gradient with: first by `scale`, then by `coefficient`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clip {
    /// The norm before clipping; infinite where it exceeds f32's range (each element being finite).
    pub norm: f32,
    /// A power of two; 1 unless the sum of squares left f32's range.
    pub scale: f32,
    /// `max_norm / (scale * norm)` where the norm is larger than `max_norm`, else 1.
    pub coefficient: f32,
}

impl Clip {
    /// The norm after clipping.
    pub fn clipped_norm(&self, max_norm: f32) -> f32 {
        if self.norm > max_norm { max_norm } else { self.norm }
    }
}

/// Sums of squares below this may have lost small elements to underflow; above infinity is overflow.
const SMALL: f32 = f32::from_bits((127 - 80) << 23);

/// The Euclidean norm of a whole gradient and the factors that bring it down to `max_norm`.
///
/// `norm = sqrt(sum g_i^2)`, the sum in the contract's order ([`arith::sum::sum_of_squares`]); where that sum leaves [2^-80, infinity), the elements are first
/// scaled by a power of two that brings the largest to [1, 2).
///
/// * `names`: name and range of each parameter, for messages.
///
/// # Errors
/// `max_norm` zero, negative, NaN or infinite; a gradient that is not finite, by name.
pub fn global_norm(isa: Isa, max_norm: f32, names: &[(String, Range<usize>)], gradient: &[f32]) -> Result<Clip, Error> {
    if !(max_norm > 0.0 && max_norm < f32::INFINITY) {
        return Err(Error::Setting { name: "max_norm", value: max_norm, expected: "positive and finite" });
    }
    let mut scale = 1.0;
    let mut sum = arith::sum::sum_of_squares_with(isa, gradient);
    if !(SMALL..f32::INFINITY).contains(&sum) {
        let mut largest = 0.0;
        for (i, &g) in gradient.iter().enumerate() {
            if !g.is_finite() {
                return Err(culprit(names, i, g));
            }
            largest = if g.abs() > largest { g.abs() } else { largest };
        }
        if largest > 0.0 {
            // 2^-e for largest in [2^e, 2^(e + 1)), with e kept to where 2^-e is a normal number.
            let e = ((largest.to_bits() >> 23) as i32 - 127).clamp(-126, 126);
            scale = f32::from_bits(((127 - e) as u32) << 23);
            sum = sum_chunks(
                gradient.len(),
                |x| arith::sum::sum_of_squares_with(isa, x),
                |start, out| {
                    for (out, g) in out.iter_mut().zip(&gradient[start..]) {
                        *out = g * scale;
                    }
                },
            );
        }
    }
    let scaled = arith::sqrt(sum);
    let norm = scaled / scale;
    Ok(if norm > max_norm {
        Clip { norm, scale, coefficient: max_norm / scaled }
    } else {
        Clip { norm, scale: 1.0, coefficient: 1.0 }
    })
}

/// Clips `gradient` in place and returns the norm it had.
///
/// ```
/// use arith::simd::Isa;
///
/// let mut gradient = [3.0, 4.0];
/// let norm = trainer::optim::clip_gradient(Isa::detect(), 1.0, &[("w".into(), 0..2)], &mut gradient)?;
/// assert_eq!((norm, gradient), (5.0, [0.6, 0.8]));
/// # Ok::<(), trainer::optim::Error>(())
/// ```
///
/// # Errors
/// As [`global_norm`]; nothing is changed then.
pub fn clip_gradient(
    isa: Isa,
    max_norm: f32,
    names: &[(String, Range<usize>)],
    gradient: &mut [f32],
) -> Result<f32, Error> {
    let clip = global_norm(isa, max_norm, names, gradient)?;
    if clip.norm > max_norm {
        for g in gradient {
            *g = *g * clip.scale * clip.coefficient;
        }
    }
    Ok(clip.norm)
}

#[cold]
fn culprit(names: &[(String, Range<usize>)], at: usize, value: f32) -> Error {
    match names.iter().find(|(_, range)| range.contains(&at)) {
        Some((name, range)) => Error::NotFinite { parameter: name.clone(), element: at - range.start, value },
        None => Error::NotFinite { parameter: "gradient".into(), element: at, value },
    }
}
