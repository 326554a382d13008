//! Draws without replacement.
//!
//! The tree isn't changed. The leaves drawn so far are cut out of the line of thresholds, and draws are made from what
//! is left of it, many at a time: of independent draws from the rest, those that repeat an earlier one are passed over,
//! and what remains is distributed exactly as successive draws, each from all leaves not yet drawn. What is passed over
//! is made up for in the next round, from a line with all of the new leaves cut out.
//!
//! A round takes at least its first draw, and most of the mass when few are taken; so rounds are few, whatever the weights.

use super::SumTree;
use super::draw::{Drawn, Independent};
use super::find::{Found, Source};
use super::tuning::BATCH;
use crate::error::Error;
use crate::memory::reserved;
use arith::random::Stream;
use arith::simd::Isa;

/// Working memory of [`SumTree::sample_distinct`].
#[derive(Clone, Debug, Default)]
pub struct DistinctScratch {
    /// The draws of a round.
    drawn: Vec<Candidate>,
    /// What is cut out, ascending.
    cuts: Vec<Cut>,
}

impl DistinctScratch {
    /// For up to `draws` draws at a time. More than that allocate, once; so do those for which there is no memory now.
    pub fn new(draws: usize) -> Self {
        Self { drawn: reserved(draws), cuts: reserved(draws) }
    }
}

#[derive(Clone, Copy, Debug)]
struct Candidate {
    leaf: u32,
    /// Which draw of the round it was. No more than there are leaves.
    order: u32,
    weight: u64,
    /// Sum of all leaves before it.
    before: u64,
}

/// A leaf that has been drawn, as a stretch of the line.
#[derive(Clone, Copy, Debug)]
struct Cut {
    start: u64,
    length: u64,
    /// Where on the line without all cuts it would be: thresholds from there on lie behind it.
    key: u64,
    /// Lengths of all cuts up to and with this one.
    cut: u64,
}

impl SumTree {
    /// Draws without replacement: leaf number j with probability `weight / (total - weights of the leaves before)`, as by
    /// successive draws, each leaf at most once.
    ///
    /// `out`: (m), in the order of the draws; `scratch` is made once, for the largest m. The tree is only read. All draws
    /// are a function of the priorities, m and block `index` of the stream, whose words are the seed of a stream of
    /// their own: one call takes one index. 1,024 of 2^20 leaves take some 100 ns a draw (one thread, Zen 4).
    ///
    /// # Errors
    /// [`Error::TooFewPositive`] if fewer than m priorities are above zero; [`Error::AllZero`] if none is.
    pub fn sample_distinct(
        &self,
        stream: &Stream,
        index: u64,
        scratch: &mut DistinctScratch,
        out: &mut [u32],
    ) -> Result<(), Error> {
        self.sample_distinct_on(Isa::detect(), stream, index, scratch, out)
    }

    /// [`sample_distinct`](Self::sample_distinct) with a given instruction set.
    #[doc(hidden)]
    pub fn sample_distinct_on(
        &self,
        isa: Isa,
        stream: &Stream,
        index: u64,
        scratch: &mut DistinctScratch,
        out: &mut [u32],
    ) -> Result<(), Error> {
        self.draw_distinct(isa, stream, index, scratch, out, |drawn, out| *out = drawn.leaf)
    }

    /// [`sample_distinct`](Self::sample_distinct), with more to tell of each draw: `tell` is called for each of `out` in
    /// order, a round at a time.
    pub(crate) fn draw_distinct<T>(
        &self,
        isa: Isa,
        stream: &Stream,
        index: u64,
        scratch: &mut DistinctScratch,
        out: &mut [T],
        tell: impl Fn(Drawn, &mut T),
    ) -> Result<(), Error> {
        const OPERATION: &str = "SumTree::sample_distinct";
        self.check_mass(OPERATION)?;
        if out.len() > self.positive() {
            return Err(Error::TooFewPositive { operation: OPERATION, draws: out.len(), positive: self.positive() });
        }
        let [a, b, c, d] = stream.block(index);
        let own = Stream::new(u64::from(b) << 32 | u64::from(a), u64::from(d) << 32 | u64::from(c));
        let DistinctScratch { drawn, cuts } = scratch;
        cuts.clear();
        let (mut filled, mut tried, mut left) = (0, 0, self.total());
        while filled < out.len() {
            let wanted = out.len() - filled;
            drawn.clear();
            drawn.resize(wanted, Candidate { leaf: 0, order: 0, weight: 0, before: 0 });
            let draws = Independent { stream: own, first_index: tried, total: left };
            self.visit(isa, &Around { draws, cuts }, drawn, Candidate::set);
            tried += wanted as u64;
            keep_first(drawn);
            for (out, new) in out[filled..].iter_mut().zip(drawn.iter()) {
                tell(Drawn { leaf: new.leaf, weight: new.weight }, out);
                cuts.push(Cut { start: new.before, length: new.weight, key: 0, cut: 0 });
                left -= new.weight;
            }
            filled += drawn.len();
            order(cuts);
        }
        Ok(())
    }
}

impl Candidate {
    #[inline(always)]
    fn set(found: Found, drawn: &mut Self) {
        drawn.leaf = found.leaf;
        drawn.weight = found.weight;
        drawn.before = found.before;
    }
}

/// Leaves the first draw of each leaf, in the order of the draws.
fn keep_first(drawn: &mut Vec<Candidate>) {
    for (order, drawn) in (0..).zip(drawn.iter_mut()) {
        drawn.order = order;
    }
    drawn.sort_unstable_by_key(|drawn| (drawn.leaf, drawn.order));
    drawn.dedup_by_key(|drawn| drawn.leaf);
    drawn.sort_unstable_by_key(|drawn| drawn.order);
}

/// Sorts the cuts and sums their lengths.
fn order(cuts: &mut [Cut]) {
    cuts.sort_unstable_by_key(|cut| cut.start);
    let mut sum = 0;
    for cut in cuts {
        cut.key = cut.start - sum;
        sum += cut.length;
        cut.cut = sum;
    }
}

/// Thresholds of what is left, moved past the cuts.
struct Around<'a> {
    draws: Independent,
    cuts: &'a [Cut],
}

impl Source for Around<'_> {
    #[inline(always)]
    fn fill(&self, first: usize, thresholds: &mut [u64; BATCH]) {
        self.draws.fill(first, thresholds);
        if self.cuts.is_empty() {
            return;
        }
        for t in thresholds {
            let passed = self.cuts.partition_point(|cut| cut.key <= *t);
            *t += passed.checked_sub(1).map_or(0, |last| self.cuts[last].cut);
        }
    }
}
