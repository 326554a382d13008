//! Categorical policies: rows of logits, and what can be asked of them.

use arith::simd::{Isa, Kernel};

use super::error::Error;
use super::softmax;
use super::tile::{LANES, Lane, Tile, lanes_only, store};

/// The largest number of actions.
pub const MAX_ACTIONS: usize = 1024;

/// Capacities of tiles: kernels are compiled for each, so that few actions need little memory.
pub(super) const FEW: usize = 8;
pub(super) const SOME: usize = 64;

/// Rows of logits z, and optionally which actions are legal: `p = softmax(z)` over the legal ones.
#[derive(Clone, Copy, Debug)]
pub struct Logits<'a> {
    data: &'a [f32],
    rows: usize,
    stride: usize,
    actions: usize,
    legal: Option<&'a [bool]>,
}

impl<'a> Logits<'a> {
    /// The first `actions` elements of each row of `data`, which is (rows, stride).
    ///
    /// # Errors
    /// No actions, more than [`MAX_ACTIONS`] or than `stride`; a last row that is not whole.
    pub fn new(data: &'a [f32], stride: usize, actions: usize) -> Result<Self, Error> {
        let operation = "Logits::new";
        let most = stride.min(MAX_ACTIONS);
        if actions == 0 || actions > most {
            return Err(Error::Actions { operation, actions, stride, most });
        }
        let rows = data.len() / stride;
        if rows * stride != data.len() {
            let expected = (rows + 1).saturating_mul(stride);
            return Err(Error::Length { operation, operand: "data", expected, got: data.len() });
        }
        Ok(Self { data, rows, stride, actions, legal: None })
    }

    /// With `legal` (rows, actions): an action is legal where it is true. A mask stands for a logit of -inf: the
    /// action has probability 0, adds 0 to the entropy and is never drawn.
    ///
    /// # Errors
    /// Another length; a row without a legal action.
    pub fn with_legal(self, legal: &'a [bool]) -> Result<Self, Error> {
        let operation = "Logits::with_legal";
        same_length(operation, "legal", self.rows * self.actions, legal.len())?;
        for (row, legal) in legal.chunks_exact(self.actions).enumerate() {
            if !legal.iter().fold(false, |any, &legal| any | legal) {
                return Err(Error::NoLegalAction { operation, row });
            }
        }
        Ok(Self { legal: Some(legal), ..self })
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of actions.
    pub fn actions(&self) -> usize {
        self.actions
    }

    /// Logits of a row. Panics where there is no such row.
    #[inline(always)]
    pub(super) fn row(&self, row: usize) -> &'a [f32] {
        &self.data[row * self.stride..][..self.actions]
    }

    /// A whole row of the data, with what follows the logits.
    #[inline(always)]
    pub(super) fn whole_row(&self, row: usize) -> &'a [f32] {
        &self.data[row * self.stride..][..self.stride]
    }

    #[inline(always)]
    pub(super) fn legal_row(&self, row: usize) -> Option<&'a [bool]> {
        self.legal.map(|legal| &legal[row * self.actions..][..self.actions])
    }

    pub(super) fn stride(&self) -> usize {
        self.stride
    }

    /// Log-probabilities of `actions` (rows), and entropies in nats (rows).
    ///
    /// ```text
    /// d_a = z_a - max z;  e_a = exp(d_a);  s = sum_a e_a;  ln p_a = d_a - ln s;  p_a = e_a * (1 / s)
    /// H = sum_a -(p_a * ln p_a)
    /// ```
    /// with sums in the contract's order.
    ///
    /// # Errors
    /// Lengths; an action that does not exist or is masked; a logit that is NaN or +inf, by row.
    pub fn log_probs(
        &self,
        isa: Isa,
        actions: &[u32],
        log_probs: &mut [f32],
        entropies: &mut [f32],
    ) -> Result<(), Error> {
        let operation = "log_probs";
        same_length(operation, "actions", self.rows, actions.len())?;
        same_length(operation, "log_probs", self.rows, log_probs.len())?;
        same_length(operation, "entropies", self.rows, entropies.len())?;
        let bad = if self.actions <= FEW {
            isa.run(LogProbs::<FEW> { logits: self, actions, log_probs, entropies })
        } else if self.actions <= SOME {
            isa.run(LogProbs::<SOME> { logits: self, actions, log_probs, entropies })
        } else {
            isa.run(LogProbs::<MAX_ACTIONS> { logits: self, actions, log_probs, entropies })
        };
        match bad {
            None => Ok(()),
            Some(row) => Err(self.culprit(operation, row, Some(actions[row]))),
        }
    }

    /// Draws an action per row by inverting the CDF at `words` (rows), uniform on all of u32.
    ///
    /// The weights are integers (contract point 3): `q_a = round(e_a * 2^S)` (halves up), and 1 where that would round
    /// a probability that is not zero to zero; `2^S` is the largest power of two up to 2^30 for which no total passes
    /// 2^31. The action is the first whose running total exceeds `(word * total) >> 32`: one of weight 0 (masked, or
    /// with an exponential that underflows) can't be drawn, nor one out of range. S is 30 for two actions, 25 for 64,
    /// 21 for 1024. One word per row is consumed.
    ///
    /// `log_probs` (rows) gets `ln p` of each action, the same bits as from [`Logits::log_probs`].
    ///
    /// # Errors
    /// Lengths; a logit that is NaN or +inf, by row.
    pub fn sample(&self, isa: Isa, words: &[u32], actions: &mut [u32], log_probs: &mut [f32]) -> Result<(), Error> {
        let operation = "sample";
        same_length(operation, "words", self.rows, words.len())?;
        same_length(operation, "actions", self.rows, actions.len())?;
        same_length(operation, "log_probs", self.rows, log_probs.len())?;
        let bad = if self.actions <= FEW {
            isa.run(Sample::<FEW> { logits: self, words, actions, log_probs })
        } else if self.actions <= SOME {
            isa.run(Sample::<SOME> { logits: self, words, actions, log_probs })
        } else {
            isa.run(Sample::<MAX_ACTIONS> { logits: self, words, actions, log_probs })
        };
        match bad {
            None => Ok(()),
            Some(row) => Err(self.culprit(operation, row, None)),
        }
    }

    /// The likeliest action of each row, the first of equals.
    ///
    /// # Errors
    /// Length.
    pub fn greedy(&self, actions: &mut [u32]) -> Result<(), Error> {
        same_length("greedy", "actions", self.rows, actions.len())?;
        for (row, action) in actions.iter_mut().enumerate() {
            *action = argmax(self.row(row), self.legal_row(row));
        }
        Ok(())
    }

    /// Why `row` has no log-probability (of `action`, where there is one).
    #[cold]
    pub(super) fn culprit(&self, operation: &'static str, row: usize, action: Option<u32>) -> Error {
        let (z, legal) = (self.row(row), self.legal_row(row));
        let is_legal = |a: usize| legal.is_none_or(|legal| legal[a]);
        for (a, &value) in z.iter().enumerate() {
            if is_legal(a) && (value.is_nan() || value == f32::INFINITY) {
                return Error::NotFinite { operation, operand: "a logit", row, value };
            }
        }
        let possible = |a: usize| is_legal(a) && z[a] > f32::NEG_INFINITY;
        let actions = (0..self.actions).filter(|&a| possible(a)).count();
        if actions == 0 {
            return Error::NoLegalAction { operation, row };
        }
        match action {
            Some(action) if !usize::try_from(action).is_ok_and(|a| a < self.actions && possible(a)) => {
                Error::Action { operation, row, action, actions }
            }
            // All that is left: numbers so large that their product or difference overflows.
            _ => Error::NotFinite { operation, operand: "a result", row, value: f32::INFINITY },
        }
    }
}

/// The likeliest action of one row of logits: the first of equals; NaN is less than any other. 0 for an empty row.
///
/// ```
/// assert_eq!(trainer::loss::categorical::greedy(&[0.5, 2.0, 2.0]), 1);
/// assert_eq!(trainer::loss::categorical::greedy(&[f32::NAN, -1.0]), 1);
/// ```
pub fn greedy(logits: &[f32]) -> u32 {
    argmax(logits, None)
}

fn argmax(logits: &[f32], legal: Option<&[bool]>) -> u32 {
    let mut best: Option<(u32, f32)> = None;
    for (i, (a, &z)) in (0..).zip(logits).enumerate() {
        if legal.is_none_or(|legal| legal[i]) && best.is_none_or(|(_, top)| z > top || (top.is_nan() && !z.is_nan())) {
            best = Some((a, z));
        }
    }
    best.map_or(0, |(a, _)| a)
}

struct LogProbs<'a, const CAP: usize> {
    logits: &'a Logits<'a>,
    actions: &'a [u32],
    log_probs: &'a mut [f32],
    entropies: &'a mut [f32],
}

impl<const CAP: usize> Kernel for LogProbs<'_, CAP> {
    /// A row whose log-probability is not finite.
    type Output = Option<usize>;

    #[inline(always)]
    fn run(self) -> Option<usize> {
        let count = self.logits.actions();
        let mut tile = Tile::<CAP>::new();
        let mut bad = None;
        for first in (0..self.logits.rows()).step_by(LANES) {
            tile.load(self.logits, first);
            let rows = first..first + tile.rows;
            let log_probs = tile.log_prob_of(count, &padded(&self.actions[rows.clone()]));
            let entropies = tile.entropy(count);
            bad = bad.or(first_bad(&log_probs).map(|lane| rows.start + lane));
            store(&mut self.log_probs[rows.clone()], &log_probs);
            store(&mut self.entropies[rows], &entropies);
        }
        bad
    }
}

struct Sample<'a, const CAP: usize> {
    logits: &'a Logits<'a>,
    words: &'a [u32],
    actions: &'a mut [u32],
    log_probs: &'a mut [f32],
}

impl<const CAP: usize> Kernel for Sample<'_, CAP> {
    /// A row whose log-probability is not finite.
    type Output = Option<usize>;

    #[inline(always)]
    fn run(self) -> Option<usize> {
        let count = self.logits.actions();
        let scale = softmax::scale(count);
        let mut tile = Tile::<CAP>::new();
        let mut weights = [[0_u32; LANES]; CAP];
        let mut bad = None;
        for first in (0..self.logits.rows()).step_by(LANES) {
            tile.load(self.logits, first);
            let rows = first..first + tile.rows;
            let mut total = [0_u32; LANES];
            for (weights, exps) in weights[..count].iter_mut().zip(&tile.exps) {
                lanes_only();
                for lane in 0..LANES {
                    total[lane] = total[lane].wrapping_add(softmax::weight(exps[lane] * scale));
                    weights[lane] = total[lane];
                }
            }
            let words = padded(&self.words[rows.clone()]);
            let mut threshold = [0_u32; LANES];
            for lane in 0..LANES {
                threshold[lane] = softmax::threshold(words[lane], total[lane]);
            }
            let mut chosen = [0_u32; LANES];
            for running in &weights[..count] {
                lanes_only();
                for lane in 0..LANES {
                    chosen[lane] += u32::from(running[lane] <= threshold[lane]);
                }
            }
            let log_probs = tile.log_prob_of(count, &chosen);
            bad = bad.or(first_bad(&log_probs).map(|lane| rows.start + lane));
            store(&mut self.actions[rows.clone()], &chosen);
            store(&mut self.log_probs[rows], &log_probs);
        }
        bad
    }
}

/// The first lane that is not finite; the search comes after a test of all at once.
#[inline(always)]
pub(super) fn first_bad(values: &Lane) -> Option<usize> {
    if values.iter().fold(true, |all, x| all & x.is_finite()) {
        return None;
    }
    values.iter().position(|x| !x.is_finite())
}

/// A tile of `values`, which are at least one and at most `LANES`; lanes beyond them repeat the last.
#[inline(always)]
pub(super) fn padded<T: Copy>(values: &[T]) -> [T; LANES] {
    match values.first_chunk() {
        Some(whole) => *whole,
        None => std::array::from_fn(|lane| values[lane.min(values.len() - 1)]),
    }
}

pub(super) fn same_length(
    operation: &'static str,
    operand: &'static str,
    expected: usize,
    got: usize,
) -> Result<(), Error> {
    if got == expected { Ok(()) } else { Err(Error::Length { operation, operand, expected, got }) }
}
