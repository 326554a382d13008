//! Sums over slices.

use super::chunk::join_lanes;
use super::{CHUNK, ChunkTree, LANES, Lanes};
use crate::fma;
use crate::simd::{Isa, Kernel};

/// What a lane does with element i. A trait and not a closure: its methods can be `#[inline(always)]`, without which
/// they may stay outside the copy that is compiled for the instruction set.
trait Terms: Copy {
    /// A whole chunk of each input.
    type Chunk: Copy;
    fn len(self) -> usize;
    /// The chunk from element `at` on, which must be there.
    fn chunk(self, at: usize) -> Self::Chunk;
    /// Adds element `i` of a chunk to a lane.
    fn step(chunk: Self::Chunk, i: usize, lane: f32) -> f32;
    /// Adds element `at` to a lane.
    fn add(self, at: usize, lane: f32) -> f32;
}

/// Chunks whose lanes are kept before the tree joins them.
const BATCH: usize = 8;

fn reduce<T: Terms>(isa: Isa, terms: T) -> f32 {
    let len = terms.len();
    let mut tree = ChunkTree::new();
    let mut lanes = [[0.0; LANES]; BATCH];
    let mut sums = [0.0; BATCH];
    let mut start = 0;
    while start < len {
        let chunks = (len - start).div_ceil(CHUNK).min(BATCH);
        // Two kernels with the lanes in memory between them: in one, LLVM mixes the tree's shuffles into the rows.
        isa.run(FillLanes { terms, start, lanes: &mut lanes[..chunks] });
        isa.run(JoinLanes { lanes: &lanes, sums: &mut sums });
        for &sum in &sums[..chunks] {
            tree.push(sum);
        }
        start += chunks * CHUNK;
    }
    tree.finish().unwrap_or(0.0)
}

/// The lanes of the chunks from element `start` on.
struct FillLanes<'a, T> {
    terms: T,
    start: usize,
    lanes: &'a mut [Lanes],
}

impl<T: Terms> Kernel for FillLanes<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self { terms, start, lanes } = self;
        let len = terms.len();
        let mut start = start;
        // Two chunks at a time: one has too few independent additions for the pipes.
        let (pairs, last) = lanes.as_chunks_mut::<2>();
        for pair in pairs {
            if len - start >= 2 * CHUNK {
                *pair = whole_chunks(terms, start);
            } else {
                let [first] = whole_chunks(terms, start);
                *pair = [first, short_chunk(terms, start + CHUNK, len)];
            }
            start += 2 * CHUNK;
        }
        for lanes in last {
            *lanes = if len - start >= CHUNK {
                let [lanes] = whole_chunks(terms, start);
                lanes
            } else {
                short_chunk(terms, start, len)
            };
        }
    }
}

struct JoinLanes<'a> {
    lanes: &'a [Lanes; BATCH],
    sums: &'a mut [f32; BATCH],
}

impl Kernel for JoinLanes<'_> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        for (sum, lanes) in self.sums.iter_mut().zip(self.lanes) {
            *sum = join_lanes(lanes);
        }
    }
}

/// The lanes of `K` whole chunks from element `start` on.
#[inline(always)]
fn whole_chunks<T: Terms, const K: usize>(terms: T, start: usize) -> [Lanes; K] {
    let mut sums = [[0.0; LANES]; K];
    let mut chunks = [terms.chunk(start); K];
    for (k, chunk) in chunks.iter_mut().enumerate() {
        *chunk = terms.chunk(start + k * CHUNK);
    }
    for at in (0..CHUNK).step_by(LANES) {
        for (k, lanes) in sums.iter_mut().enumerate() {
            for (j, lane) in lanes.iter_mut().enumerate() {
                *lane = T::step(chunks[k], at + j, *lane);
            }
        }
    }
    sums
}

/// The lanes of a chunk that ends early at `end`. Lanes that have run out stay as they are.
#[inline(always)]
fn short_chunk<T: Terms>(terms: T, start: usize, end: usize) -> Lanes {
    let mut lanes = [0.0; LANES];
    let mut at = start;
    while at < end {
        let width = if end - at < LANES { end - at } else { LANES };
        for (j, lane) in lanes.iter_mut().enumerate().take(width) {
            *lane = terms.add(at + j, *lane);
        }
        at += LANES;
    }
    lanes
}

/// Elements `at..at + CHUNK`, which there are.
#[inline(always)]
fn chunk(x: &[f32], at: usize) -> &[f32; CHUNK] {
    x[at..at + CHUNK].first_chunk().unwrap_or(&[0.0; CHUNK])
}

#[derive(Clone, Copy)]
struct Sum<'a>(&'a [f32]);

impl<'a> Terms for Sum<'a> {
    type Chunk = &'a [f32; CHUNK];
    #[inline(always)]
    fn len(self) -> usize {
        self.0.len()
    }
    #[inline(always)]
    fn chunk(self, at: usize) -> Self::Chunk {
        chunk(self.0, at)
    }
    #[inline(always)]
    fn step(chunk: Self::Chunk, i: usize, lane: f32) -> f32 {
        lane + chunk[i]
    }
    #[inline(always)]
    fn add(self, at: usize, lane: f32) -> f32 {
        lane + self.0[at]
    }
}

#[derive(Clone, Copy)]
struct Dot<'a>(&'a [f32], &'a [f32]);

impl<'a> Terms for Dot<'a> {
    type Chunk = (&'a [f32; CHUNK], &'a [f32; CHUNK]);
    #[inline(always)]
    fn len(self) -> usize {
        let (x, y) = (self.0.len(), self.1.len());
        if x < y { x } else { y }
    }
    #[inline(always)]
    fn chunk(self, at: usize) -> Self::Chunk {
        (chunk(self.0, at), chunk(self.1, at))
    }
    #[inline(always)]
    fn step((x, y): Self::Chunk, i: usize, lane: f32) -> f32 {
        fma(x[i], y[i], lane)
    }
    #[inline(always)]
    fn add(self, at: usize, lane: f32) -> f32 {
        fma(self.0[at], self.1[at], lane)
    }
}

macro_rules! sums {
    ($($(#[$doc:meta])* $name:ident, $with:ident, ($($x:ident),+), $terms:expr;)*) => {$(
        $(#[$doc])*
        #[inline]
        pub fn $name($($x: &[f32]),+) -> f32 {
            $with(Isa::detect(), $($x),+)
        }

        #[doc = concat!("[`", stringify!($name), "`] with a given instruction set.")]
        #[inline]
        pub fn $with(isa: Isa, $($x: &[f32]),+) -> f32 {
            reduce(isa, $terms)
        }
    )*};
}

sums! {
    /// `sum_i x_i`; +0 if empty.
    ///
    /// ```
    /// assert_eq!(arith::sum::sum(&[1.0, 2.0, 3.5]), 6.5);
    /// ```
    sum, sum_with, (x), Sum(x);

    /// `sum_i x_i y_i`, each lane a chain of [`fma`]s; +0 if empty. Elements past the shorter slice's end don't count.
    ///
    /// ```
    /// assert_eq!(arith::sum::dot(&[1.0, 2.0], &[3.0, 4.0]), 11.0);
    /// ```
    dot, dot_with, (x, y), Dot(x, y);

    /// `sum_i x_i^2`, each lane a chain of [`fma`]s; +0 if empty.
    sum_of_squares, sum_of_squares_with, (x), Dot(x, x);
}
