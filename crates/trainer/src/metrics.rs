//! What an update reports.

use serde::{Deserialize, Serialize};

/// Figures of one update. Losses and ratios are means over the update's minibatches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Metrics {
    /// Number of this update, from 0.
    pub update: u64,
    /// Environment steps of the run so far.
    pub steps: u64,
    /// Episodes that ended in this update.
    pub episodes: u64,
    /// Mean return of the last 100 episodes (fewer, early in a run); NaN before the first one ends.
    #[serde(with = "nan_as_null")]
    pub mean_return: f64,
    /// Mean length of the same episodes, in steps.
    #[serde(with = "nan_as_null")]
    pub mean_length: f64,
    /// Clipped surrogate loss.
    #[serde(with = "nan_as_null")]
    pub policy_loss: f32,
    /// Value loss, before its coefficient.
    #[serde(with = "nan_as_null")]
    pub value_loss: f32,
    /// Mean entropy, in nats.
    #[serde(with = "nan_as_null")]
    pub entropy: f32,
    /// The k3 estimate of KL(old || new), in nats.
    #[serde(with = "nan_as_null")]
    pub approx_kl: f32,
    /// Share of the rows whose ratio left the clip range.
    #[serde(with = "nan_as_null")]
    pub clip_fraction: f32,
    /// 1 - var(return - value) / var(return) over the rollout; 0 where returns do not vary.
    #[serde(with = "nan_as_null")]
    pub explained_variance: f32,
    /// Global gradient norm before clipping.
    #[serde(with = "nan_as_null")]
    pub grad_norm: f32,
    /// Learning rate of this update.
    #[serde(with = "nan_as_null")]
    pub learning_rate: f32,
    /// Smallest and largest ratio of the first minibatch: exactly 1 by construction.
    pub first_ratio: [f32; 2],
    /// The first minibatch's KL estimate: exactly 0 by construction.
    #[serde(with = "nan_as_null")]
    pub first_kl: f32,
}

/// JSON has no NaN and no infinity: both are written as null, and read as NaN.
mod nan_as_null {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) trait Number: Copy {
        const NAN: Self;
        fn finite(self) -> Option<Self>;
    }

    impl Number for f32 {
        const NAN: Self = f32::NAN;
        fn finite(self) -> Option<Self> {
            self.is_finite().then_some(self)
        }
    }

    impl Number for f64 {
        const NAN: Self = f64::NAN;
        fn finite(self) -> Option<Self> {
            self.is_finite().then_some(self)
        }
    }

    pub(super) fn serialize<T: Number + Serialize, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
        value.finite().serialize(serializer)
    }

    pub(super) fn deserialize<'de, T, D>(deserializer: D) -> Result<T, D::Error>
    where
        T: Number + Deserialize<'de>,
        D: Deserializer<'de>,
    {
        Ok(Option::deserialize(deserializer)?.unwrap_or(T::NAN))
    }
}
