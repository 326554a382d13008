//! The tree over chunks, for a thread that sees their sums one after the other.

/// Most levels: a count is below 2^31, and a chunk has 2^10 elements.
const LEVELS: usize = 21;

/// What `arith::sum::ChunkTree` is, in registers: levels have constant numbers. After n sums, level l holds the sum of 2^l
/// chunks if bit l of n is set.
pub(super) struct Levels {
    sums: [f32; LEVELS],
    count: u32,
}

/// A block for each level, from the lowest on.
macro_rules! each_level {
    (|$level:ident| $block:block) => {
        unrolled!([0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20] |$level| $block)
    };
}

impl Levels {
    #[inline(always)]
    pub(super) fn new() -> Self {
        Self { sums: [0.0; LEVELS], count: 0 }
    }

    /// The next chunk's sum.
    #[inline(always)]
    #[allow(unused_assignments, reason = "nothing comes after the last level")]
    pub(super) fn push(&mut self, mut sum: f32) {
        let mut moves_up = true;
        each_level!(|level| {
            if moves_up {
                if self.count >> level & 1 == 0 {
                    self.sums[level] = sum;
                    moves_up = false;
                } else {
                    sum += self.sums[level];
                }
            }
        });
        self.count += 1;
    }

    /// The sum of everything, +0 if there is nothing. An odd one out moves up unchanged.
    #[inline(always)]
    #[allow(unused_assignments, reason = "nothing comes after the last level")]
    pub(super) fn finish(&self) -> f32 {
        let (mut sum, mut any) = (0.0, false);
        each_level!(|level| {
            if self.count >> level & 1 == 1 {
                let left = self.sums[level];
                sum = if any { left + sum } else { left };
                any = true;
            }
        });
        sum
    }
}
