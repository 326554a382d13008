//! How beta grows over a run.

use super::error::Error;

/// A linear schedule of beta, the exponent of importance weights (Schaul et al. 2016, section 3.4: from about 0.4 to 1).
///
/// ```text
/// beta(step) = fma(end - start, step / steps, start) for step < steps, at most end;  end from there on
/// ```
///
/// ```
/// let beta = per_core::replay::BetaSchedule::new(0.4, 1.0, 100_000)?;
/// assert_eq!(beta.at(0), 0.4);
/// assert!((beta.at(50_000) - 0.7).abs() < 1e-6);
/// assert_eq!(beta.at(u64::MAX), 1.0);
/// # Ok::<(), per_core::replay::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BetaSchedule {
    start: f32,
    end: f32,
    steps: u64,
}

impl BetaSchedule {
    /// From `start` at step 0 to `end` at `steps` and ever after.
    ///
    /// # Errors
    /// [`Error::InvalidBeta`] unless both are in [0, 1]; [`Error::Setting`] where `end` is below `start`.
    pub fn new(start: f32, end: f32, steps: u64) -> Result<Self, Error> {
        check_beta(start)?;
        check_beta(end)?;
        if end < start {
            return Err(Error::Setting { name: "end", value: end.into(), reason: "is below the start" });
        }
        Ok(Self { start, end, steps })
    }

    /// Beta at `step`: between start and end, never falling.
    pub fn at(&self, step: u64) -> f32 {
        if step >= self.steps {
            return self.end;
        }
        let share = (step as f64 / self.steps as f64) as f32;
        // The difference may have been rounded up.
        arith::fma(self.end - self.start, share, self.start).min(self.end)
    }
}

pub(crate) fn check_beta(beta: f32) -> Result<(), Error> {
    if (0.0..=1.0).contains(&beta) { Ok(()) } else { Err(Error::InvalidBeta { value: beta }) }
}
