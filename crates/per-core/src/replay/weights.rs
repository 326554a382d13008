//! Importance weights.

use super::PrioritizedReplay;
use super::batch::Batch;
use super::config::Weights;
use crate::cdf::ratio::{is_hard, ratio};
use arith::simd::{Isa, Kernel};

/// Quotients that are computed together.
const CHUNK: usize = 32;

/// Writes the weights of the drawn items, whose masses are above zero.
///
/// ```text
/// OverBuffer, OverBatch   w = (least / mass)^beta         the quotient correctly rounded, then the power
/// Unnormalized            w = (N * (mass / total))^-beta  each operation rounded
/// ```
pub(super) fn weigh(replay: &PrioritizedReplay, batch: &mut Batch, beta: f32) {
    let powers = &replay.powers;
    let (quotient, exponent) = match replay.config.weights {
        Weights::OverBuffer => {
            let least = powers.quantize(replay.smallest.first().unwrap_or(0.0));
            (Quotient { of: Of::Least(least), factor: 1.0 }, beta)
        }
        Weights::OverBatch => {
            let least = batch.masses.iter().copied().min().unwrap_or(0);
            (Quotient { of: Of::Least(least), factor: 1.0 }, beta)
        }
        Weights::Unnormalized => {
            let factor = replay.present as f32;
            (Quotient { of: Of::Total(powers.total()), factor }, -beta)
        }
    };
    let (isa, Batch { masses, quotients, weights, .. }) = (Isa::detect(), batch);
    isa.run(QuotientKernel { masses, quotient, quotients });
    // In a loop of its own, which is vectorized.
    if let Err(error) = arith::slice::powf_with(isa, quotients, exponent, weights) {
        unreachable!("both have the batch's length: {error}");
    }
}

/// `factor * (a / b)`.
#[derive(Clone, Copy)]
struct Quotient {
    of: Of,
    factor: f32,
}

#[derive(Clone, Copy)]
enum Of {
    /// This divided by the mass.
    Least(u64),
    /// The mass divided by this.
    Total(u64),
}

struct QuotientKernel<'a> {
    masses: &'a [u64],
    quotient: Quotient,
    quotients: &'a mut [f32],
}

impl Kernel for QuotientKernel<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { masses, quotient: Quotient { of, factor }, quotients: out } = self;
        for (out, masses) in out.chunks_mut(CHUNK).zip(masses.chunks(CHUNK)) {
            // 1 past the last one.
            let mut parts = [[1_u64; CHUNK]; 2];
            match of {
                Of::Least(least) => {
                    parts[0] = [least; CHUNK];
                    parts[1][..masses.len()].copy_from_slice(masses);
                }
                Of::Total(total) => {
                    parts[0][..masses.len()].copy_from_slice(masses);
                    parts[1] = [total; CHUNK];
                }
            }
            let mut quotients = [0.0; CHUNK];
            let mut hard = false;
            for (j, quotient) in quotients.iter_mut().enumerate() {
                // Below 2^63, so signed: AVX-512 converts both, AVX2 neither.
                let near = parts[0][j].cast_signed() as f64 / parts[1][j].cast_signed() as f64;
                hard |= is_hard(near);
                *quotient = near as f32;
            }
            if hard {
                for (j, quotient) in quotients.iter_mut().enumerate().take(masses.len()) {
                    *quotient = ratio(parts[0][j], parts[1][j]);
                }
            }
            for (out, quotient) in out.iter_mut().zip(quotients) {
                *out = factor * quotient;
            }
        }
    }
}
