//! RepeatPrevious: a task that no policy without memory can do.

use super::{Env, Error, Rng, Spec, Step};

/// Each step shows one of `symbols` symbols, drawn uniformly and independently; from step `k` on (the first is 0), the
/// right action is the symbol shown `k` steps before. (After the task of this name in Morad et al., "POPGym: benchmarking
/// partially observable reinforcement learning", 2023.)
///
/// Observation: the symbol, one-hot. Actions: the symbols. Reward: `1 / (length - k)` for a right answer, 0 for a wrong
/// one and in the first `k` steps, so that the return is the share of right answers, up to rounding: at best 1, and
/// `1 / symbols` on average for every memoryless policy when `k > 0`, since what is asked for is then independent of
/// what is shown. An episode ends by termination after `length` steps; its final observation is zero.
#[derive(Clone, Debug, PartialEq)]
pub struct RepeatPrevious {
    symbols: u32,
    length: u64,
    /// 1 / (length - k).
    reward: f32,
    step: u64,
    /// The last k + 1 symbols, that of step t at t mod (k + 1).
    shown: Box<[u32]>,
    /// Where the symbol of this step lies.
    cursor: usize,
}

/// Largest k and number of symbols.
const LARGEST: u64 = 1 << 16;

impl RepeatPrevious {
    /// With a delay of `k` steps, `symbols` symbols and episodes of `length` steps.
    ///
    /// # Errors
    /// [`Error::Parameter`] unless k <= 65536, 2 <= symbols <= 65536 and k < length <= 2^32.
    pub fn new(k: u64, symbols: u32, length: u64) -> Result<Self, Error> {
        let wrong = |parameter, got, expected| {
            Err(Error::Parameter { environment: "RepeatPrevious", parameter, got, expected })
        };
        if k > LARGEST {
            return wrong("k", k, "at most 65536");
        }
        if !(2..=LARGEST).contains(&u64::from(symbols)) {
            return wrong("symbols", u64::from(symbols), "from 2 to 65536");
        }
        if length <= k || length > 1 << 32 {
            return wrong("length", length, "more than k, at most 2^32");
        }
        Ok(Self::build(k as usize, symbols, length))
    }

    /// With parameters in range.
    fn build(k: usize, symbols: u32, length: u64) -> Self {
        let reward = 1.0 / (length - k as u64) as f32;
        Self { symbols, length, reward, step: 0, shown: vec![0; k + 1].into_boxed_slice(), cursor: 0 }
    }

    fn k(&self) -> u64 {
        self.shown.len() as u64 - 1
    }

    /// The right action now; none in the first `k` steps.
    #[inline(always)]
    pub fn answer(&self) -> Option<u32> {
        // The slot after the newest of k + 1 holds the oldest.
        let oldest = if self.cursor + 1 == self.shown.len() { 0 } else { self.cursor + 1 };
        (self.step >= self.k()).then(|| self.shown[oldest])
    }

    /// The return of the best memoryless policy, on average: 1 / symbols (1 if k is 0).
    pub fn memoryless_return(&self) -> f64 {
        if self.k() == 0 { 1.0 } else { 1.0 / f64::from(self.symbols) }
    }

    #[inline(always)]
    fn show(&mut self, rng: &mut Rng, observation: &mut [f32]) {
        let symbol = rng.below(self.symbols);
        self.shown[self.cursor] = symbol;
        observation[symbol as usize] = 1.0;
    }
}

/// k = 4, 2 symbols, 32 steps: guessing gets half.
impl Default for RepeatPrevious {
    fn default() -> Self {
        Self::build(4, 2, 32)
    }
}

impl Env for RepeatPrevious {
    fn spec(&self) -> Spec {
        Spec {
            name: format!("repeat-previous-k{}-s{}-l{}", self.k(), self.symbols, self.length),
            observation: self.symbols as usize,
            actions: self.symbols,
            time_limit: Some(self.length),
            best_return: Some(1.0),
        }
    }

    #[inline(always)]
    fn reset(&mut self, rng: &mut Rng, observation: &mut [f32]) {
        self.step = 0;
        self.cursor = 0;
        self.shown.fill(0);
        observation.fill(0.0);
        self.show(rng, observation);
    }

    #[inline(always)]
    fn step(&mut self, action: u32, rng: &mut Rng, observation: &mut [f32]) -> Step {
        let reward = if self.answer() == Some(action) { self.reward } else { 0.0 };
        self.step = self.step.saturating_add(1);
        self.cursor = if self.cursor + 1 == self.shown.len() { 0 } else { self.cursor + 1 };
        observation.fill(0.0);
        let terminated = self.step >= self.length;
        if !terminated {
            self.show(rng, observation);
        }
        Step { reward, terminated, truncated: false }
    }

    fn save(&self, words: &mut Vec<u64>) {
        words.extend([self.step, self.cursor as u64]);
        words.extend(self.shown.iter().map(|&s| u64::from(s)));
    }

    fn load(&mut self, words: &[u64]) -> Result<(), Error> {
        let window = self.shown.len();
        let [step, cursor, shown @ ..] = words else {
            return Err(Error::state("length of RepeatPrevious", words.len(), format!("{} words", window + 2)));
        };
        if shown.len() != window {
            return Err(Error::state("length of RepeatPrevious", words.len(), format!("{} words", window + 2)));
        }
        if *step > self.length {
            return Err(Error::state("step of RepeatPrevious", step, format!("at most {}", self.length)));
        }
        let cursor = match usize::try_from(*cursor) {
            Ok(c) if c < window => c,
            _ => return Err(Error::state("cursor of RepeatPrevious", cursor, format!("below {window}"))),
        };
        if let Some(symbol) = shown.iter().find(|&&s| s >= u64::from(self.symbols)) {
            return Err(Error::state("symbol of RepeatPrevious", symbol, format!("below {}", self.symbols)));
        }
        for (to, &from) in self.shown.iter_mut().zip(shown) {
            *to = from as u32;
        }
        (self.step, self.cursor) = (*step, cursor);
        Ok(())
    }
}
