//! Sums over slices.

use super::chunk::join_lanes;
use super::{CHUNK, ChunkTree, LANES, Lanes};
use crate::fma;
#[cfg(feature = "std")]
use crate::simd::{Isa, Kernel};

/// `sum_i step(+0, a_i)` in contract order; `step(acc, i)` adds element i.
#[inline(always)]
fn reduce<const N: usize>(inputs: [&[f32]; N], len: usize, step: impl Fn(f32, [f32; N]) -> f32) -> f32 {
    let mut tree = ChunkTree::new();
    let mut start = 0;
    // Two chunks at a time: one has too few independent additions for the pipes.
    while len - start >= 2 * CHUNK {
        let [first, second] = whole_chunks::<N, 2>(&inputs, start, &step);
        tree.push(join_lanes(&first));
        tree.push(join_lanes(&second));
        start += 2 * CHUNK;
    }
    if len - start >= CHUNK {
        let [lanes] = whole_chunks::<N, 1>(&inputs, start, &step);
        tree.push(join_lanes(&lanes));
        start += CHUNK;
    }
    if start < len || len == 0 {
        tree.push(join_lanes(&short_chunk(&inputs, start, len, &step)));
    }
    tree.finish().unwrap_or(0.0)
}

/// The lanes of `K` whole chunks from `start` on.
#[inline(always)]
fn whole_chunks<const N: usize, const K: usize>(
    inputs: &[&[f32]; N],
    start: usize,
    step: &impl Fn(f32, [f32; N]) -> f32,
) -> [Lanes; K] {
    let mut lanes = [[0.0; LANES]; K];
    for row in (0..CHUNK).step_by(LANES) {
        for (k, lanes) in lanes.iter_mut().enumerate() {
            let at = start + k * CHUNK + row;
            let rows =
                inputs.map(|input| -> &[f32; LANES] { input[at..at + LANES].first_chunk().unwrap_or(&[0.0; LANES]) });
            for (j, lane) in lanes.iter_mut().enumerate() {
                *lane = step(*lane, rows.map(|row| row[j]));
            }
        }
    }
    lanes
}

/// The lanes of a chunk that ends early. Lanes that have run out stay as they are.
#[inline(always)]
fn short_chunk<const N: usize>(
    inputs: &[&[f32]; N],
    start: usize,
    len: usize,
    step: &impl Fn(f32, [f32; N]) -> f32,
) -> Lanes {
    let mut lanes = [0.0; LANES];
    for row in (start..len).step_by(LANES) {
        let width = if len - row < LANES { len - row } else { LANES };
        for (j, lane) in lanes.iter_mut().enumerate().take(width) {
            *lane = step(*lane, inputs.map(|input| input[row + j]));
        }
    }
    lanes
}

macro_rules! sums {
    ($($(#[$doc:meta])* $name:ident, $with:ident, ($($x:ident),+), |$acc:ident, [$($e:ident),+]| $step:expr;)*) => {$(
        $(#[$doc])*
        #[inline]
        pub fn $name($($x: &[f32]),+) -> f32 {
            #[cfg(feature = "std")]
            return $with(Isa::detect(), $($x),+);
            #[cfg(not(feature = "std"))]
            return reduce([$($x),+], shortest([$($x.len()),+]), |$acc, [$($e),+]| $step);
        }

        #[doc = concat!("[`", stringify!($name), "`] with a given instruction set.")]
        #[cfg(feature = "std")]
        #[inline]
        pub fn $with(isa: Isa, $($x: &[f32]),+) -> f32 {
            struct Work<'a>($(sums!(@slice 'a $x)),+);
            impl Kernel for Work<'_> {
                type Output = f32;
                #[inline(always)]
                fn run(self) -> f32 {
                    let Self($($x),+) = self;
                    reduce([$($x),+], shortest([$($x.len()),+]), |$acc, [$($e),+]| $step)
                }
            }
            isa.run(Work($($x),+))
        }
    )*};
    (@slice $a:lifetime $x:ident) => { &$a [f32] };
}

fn shortest<const N: usize>(lens: [usize; N]) -> usize {
    lens.into_iter().min().unwrap_or(0)
}

sums! {
    /// `sum_i x_i`; +0 if empty.
    ///
    /// ```
    /// assert_eq!(arith::sum::sum(&[1.0, 2.0, 3.5]), 6.5);
    /// ```
    sum, sum_with, (x), |acc, [x]| acc + x;

    /// `sum_i x_i y_i`, each lane a chain of [`fma`]s; +0 if empty. Elements past the shorter slice's end don't count.
    ///
    /// ```
    /// assert_eq!(arith::sum::dot(&[1.0, 2.0], &[3.0, 4.0]), 11.0);
    /// ```
    dot, dot_with, (x, y), |acc, [x, y]| fma(x, y, acc);

    /// `sum_i x_i^2`, each lane a chain of [`fma`]s; +0 if empty.
    sum_of_squares, sum_of_squares_with, (x), |acc, [x]| fma(x, x, acc);
}
