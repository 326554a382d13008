//! The prefix sums as fractions of the total.

use super::View;
use super::layout::{BLOCK, FANOUT};
use super::ratio::{is_hard, ratio};
use arith::simd::{Isa, Kernel};

/// Writes `prefix / total` for every weight.
pub(super) fn fractions(isa: Isa, view: View<'_>, total: u64, out: &mut [f32]) {
    isa.run(FractionsKernel { view, total, out });
}

struct FractionsKernel<'a> {
    view: View<'a>,
    total: u64,
    out: &'a mut [f32],
}

impl Kernel for FractionsKernel<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { view, total, out } = self;
        for (b, (out, block)) in out.chunks_mut(BLOCK).zip(view.blocks).enumerate() {
            let mut sums = block.quantize(view.scale);
            let mut before = view.nodes[b / FANOUT].0[b % FANOUT];
            for sum in &mut sums {
                before += *sum;
                *sum = before;
            }
            let mut near = [0.0; BLOCK];
            let mut hard = false;
            for (near, &sum) in near.iter_mut().zip(&sums) {
                // Below 2^63, so signed: AVX-512 converts both, AVX2 neither.
                let quotient = sum.cast_signed() as f64 / total.cast_signed() as f64;
                hard |= is_hard(quotient);
                *near = quotient as f32;
            }
            if hard {
                for (near, &sum) in near.iter_mut().zip(&sums) {
                    *near = ratio(sum, total);
                }
            }
            out.copy_from_slice(&near[..out.len()]);
        }
    }
}
