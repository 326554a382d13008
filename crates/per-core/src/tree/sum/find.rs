//! The search: which leaf holds a threshold.

use super::SumTree;
use super::layout::Node;
use super::scale::Storage;
use super::step::{self, Plain, Step};
use super::tuning::BATCH;
use crate::error::Error;
use crate::tree::check::check_len;
use crate::tree::layout::{Block, FANOUT, prefetch};
use arith::simd::{Isa, Kernel};

impl SumTree {
    /// The leaf that holds `threshold`: the i with `prefix[i - 1] <= threshold < prefix[i]`. Its priority is never zero.
    ///
    /// # Errors
    /// [`Error::ThresholdOutOfRange`] unless `threshold < total`.
    pub fn find(&self, threshold: u64) -> Result<u32, Error> {
        self.check_threshold("SumTree::find", 0, threshold)?;
        let view = self.view();
        let mut at = 0;
        let mut rest = view.storage.hide(threshold);
        for &start in view.starts.iter().rev() {
            let (child, left) = Plain.step(&view.nodes[start + at].0, rest);
            at = at * FANOUT + child;
            rest = left;
        }
        let (child, _) = Plain.step(&view.leaves[at].quantize(view.storage.stored()), rest);
        Ok(leaf(at, child))
    }

    /// [`find`](Self::find) for many thresholds.
    ///
    /// `thresholds`: (m), each in `0..total`; `out`: (m).
    ///
    /// # Errors
    /// [`Error::LengthMismatch`]; [`Error::ThresholdOutOfRange`] with the position of the first one.
    pub fn search(&self, thresholds: &[u64], out: &mut [u32]) -> Result<(), Error> {
        const OPERATION: &str = "SumTree::search";
        check_len(OPERATION, "out", thresholds.len(), out.len())?;
        thresholds.iter().enumerate().try_for_each(|(i, &t)| self.check_threshold(OPERATION, i, t))?;
        self.run(Isa::detect(), &Given(thresholds), out);
        Ok(())
    }

    fn check_threshold(&self, operation: &'static str, position: usize, threshold: u64) -> Result<(), Error> {
        let end = self.total();
        if threshold < end {
            return Ok(());
        }
        Err(Error::ThresholdOutOfRange { operation, position, threshold, min: 0, end })
    }

    /// Fills `out` with the leaves of `source`'s thresholds; there is some mass, or `out` is empty.
    pub(super) fn run(&self, isa: Isa, source: &impl Source, out: &mut [u32]) {
        self.visit(isa, source, out, |found, out| *out = found.leaf);
    }

    /// [`run`](Self::run) with more to tell of each leaf.
    pub(super) fn visit<T>(&self, isa: Isa, source: &impl Source, out: &mut [T], tell: impl Fn(Found, &mut T)) {
        let view = self.view();
        #[cfg(target_arch = "x86_64")]
        if isa >= Isa::Avx512
            && let Some(step) = step::Avx512::new()
        {
            return isa.run(SearchKernel { step, view, source, out, tell });
        }
        isa.run(SearchKernel { step: Plain, view, source, out, tell });
    }

    fn view(&self) -> View<'_> {
        View { leaves: &self.leaves, nodes: &self.nodes, starts: self.levels.starts(), storage: self.storage }
    }
}

/// What a search reads.
#[derive(Clone, Copy)]
struct View<'a> {
    leaves: &'a [Block],
    nodes: &'a [Node],
    /// First node of each level, the lowest first.
    starts: &'a [usize],
    storage: Storage,
}

/// What a search finds.
#[derive(Clone, Copy)]
pub(super) struct Found {
    pub(super) leaf: u32,
    /// Its priority in fixed point, at the shown scale.
    pub(super) weight: u64,
    /// The sum of all leaves before it, at the shown scale.
    pub(super) before: u64,
}

/// Where thresholds come from.
pub(super) trait Source {
    /// Thresholds number `first`, `first + 1`, ..., all below the total. Those past the last one may be anything that
    /// is below the total too.
    fn fill(&self, first: usize, thresholds: &mut [u64; BATCH]);
}

/// Thresholds of the caller.
struct Given<'a>(&'a [u64]);

impl Source for Given<'_> {
    #[inline(always)]
    fn fill(&self, first: usize, thresholds: &mut [u64; BATCH]) {
        let given = self.0.get(first..).unwrap_or_default();
        *thresholds = [0; BATCH];
        for (t, given) in thresholds.iter_mut().zip(given) {
            *t = *given;
        }
    }
}

/// Leaf number `within` of block `block`.
#[inline(always)]
fn leaf(block: usize, within: usize) -> u32 {
    // Below 2^31: there are no more leaves.
    (block * FANOUT + within) as u32
}

struct SearchKernel<'a, S, R, T, F> {
    step: S,
    view: View<'a>,
    source: &'a R,
    out: &'a mut [T],
    tell: F,
}

impl<S: Step, R: Source, T, F: Fn(Found, &mut T)> Kernel for SearchKernel<'_, S, R, T, F> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { step, view, source, out, tell } = self;
        let mut first = 0;
        let (mut thresholds, mut at, mut parts) = ([0; BATCH], [0; BATCH], [[0; FANOUT]; BATCH]);
        for out in out.chunks_mut(BATCH) {
            source.fill(first, &mut thresholds);
            for t in &mut thresholds {
                *t = view.storage.hide(*t);
            }
            let mut rest = thresholds;
            descend(step, view, &mut at, &mut rest);
            // A loop of its own, or it isn't vectorized.
            for (parts, &at) in parts.iter_mut().zip(&at) {
                *parts = view.leaves[at].quantize(view.storage.stored());
            }
            for (j, out) in out.iter_mut().enumerate() {
                let (child, rest) = step.step(&parts[j], rest[j]);
                let found = Found {
                    leaf: leaf(at[j], child),
                    weight: view.storage.reveal(parts[j][child]),
                    before: view.storage.reveal(thresholds[j] - rest),
                };
                tell(found, out);
            }
            first += BATCH;
        }
    }
}

/// Takes a batch down to its blocks, level by level: a step of one search hides the wait for memory of the others.
/// `rest`: thresholds; at the end what is left of them within the block.
#[inline(always)]
fn descend(step: impl Step, view: View<'_>, at: &mut [usize; BATCH], rest: &mut [u64; BATCH]) {
    *at = [0; BATCH];
    for level in (0..view.starts.len()).rev() {
        let nodes = &view.nodes[view.starts[level]..];
        for (at, rest) in at.iter_mut().zip(rest.iter_mut()) {
            let (child, left) = step.step(&nodes[*at].0, *rest);
            *at = *at * FANOUT + child;
            *rest = left;
            if level == 0 {
                prefetch::<_, false>(view.leaves, *at);
            } else {
                prefetch::<_, false>(&view.nodes[view.starts[level - 1]..], *at);
            }
        }
    }
}
