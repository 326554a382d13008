//! What a run is: the configuration, checked once, before anything is allocated.

use serde::{Deserialize, Serialize};

use crate::env::Spec;
use crate::error::Error;
use crate::loss::categorical::MAX_ACTIONS;
use crate::schedule::Schedule;

/// The network: an MLP encoder (tanh), a stack of minGRU layers, a linear decoder with a value head.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PolicyConfig {
    /// Widths of the encoder's layers, in units; the last one is the hidden size of the minGRU stack.
    pub encoder: Vec<usize>,
    /// Number of minGRU layers; 0 is a memoryless policy.
    pub layers: usize,
}

impl Default for PolicyConfig {
    fn default() -> Self {
        Self { encoder: vec![64], layers: 1 }
    }
}

/// Which segments a minibatch gets (prioritized replay's exponents, Schaul et al. 2016, section 3.3 and 3.4, over the
/// segments of one rollout).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PriorityConfig {
    /// Exponent of a segment's priority `sum |advantage|`. 0: every segment once per epoch, shuffled; above 0: drawn
    /// in proportion, with replacement.
    pub alpha: f32,
    /// Exponent of the importance weights `(1 / (S p))^beta`, which are divided by the largest of the rollout.
    pub beta: Schedule,
}

impl Default for PriorityConfig {
    fn default() -> Self {
        Self { alpha: 0.0, beta: Schedule::Constant { value: 1.0 } }
    }
}

/// Everything that a run depends on. Two runs with equal configurations give equal bits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Seed of every draw.
    pub seed: u64,
    /// Number of environments, N.
    pub environments: usize,
    /// Steps that each environment takes per update, T.
    pub horizon: usize,
    /// Steps in a segment, the unit that minibatches are made of; divides `horizon`. 0 stands for `horizon`.
    pub segment: usize,
    /// Environment steps of the whole run; the number of updates is `ceil(total_steps / (N T))`.
    pub total_steps: u64,
    /// The network.
    pub policy: PolicyConfig,
    /// Passes over the rollout per update.
    pub epochs: usize,
    /// Minibatches per epoch.
    pub minibatches: usize,
    /// Discount, in [0, 1].
    pub gamma: f32,
    /// GAE's lambda, in [0, 1].
    pub lambda: f32,
    /// Clip range of the probability ratio.
    pub clip: Schedule,
    /// Clip range of the value's change; 0 turns value clipping off.
    pub value_clip: f32,
    /// Weight of the value loss.
    pub value_coefficient: f32,
    /// Weight of the entropy bonus.
    pub entropy_coefficient: Schedule,
    /// Whether advantages are normalised over each minibatch.
    pub normalize_advantages: bool,
    /// Largest global gradient norm.
    pub max_grad_norm: f32,
    /// Learning rate, by update.
    pub learning_rate: Schedule,
    /// Adam's decay of the first moment.
    pub adam_beta1: f32,
    /// Adam's decay of the second moment.
    pub adam_beta2: f32,
    /// Adam's epsilon, added outside the square root.
    pub adam_epsilon: f32,
    /// Decoupled weight decay (AdamW); 0 is Adam.
    pub weight_decay: f32,
    /// Which segments a minibatch gets.
    pub priority: PriorityConfig,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            seed: 1,
            environments: 64,
            horizon: 128,
            segment: 0,
            total_steps: 500_000,
            policy: PolicyConfig::default(),
            epochs: 4,
            minibatches: 4,
            gamma: 0.99,
            lambda: 0.95,
            clip: Schedule::Constant { value: 0.2 },
            value_clip: 0.2,
            value_coefficient: 0.5,
            entropy_coefficient: Schedule::Constant { value: 0.01 },
            normalize_advantages: true,
            max_grad_norm: 0.5,
            learning_rate: Schedule::Constant { value: 2.5e-4 },
            adam_beta1: 0.9,
            adam_beta2: 0.999,
            adam_epsilon: 1e-5,
            weight_decay: 0.0,
            priority: PriorityConfig::default(),
        }
    }
}

/// Largest product of sizes that a configuration may ask for, in f32s: 64 GiB, or what the address space holds. It bounds
/// allocations, so that a typing error is an error and not an abort.
const LARGEST: usize = if usize::BITS > 32 { 1_usize.wrapping_shl(34) } else { isize::MAX as usize / size_of::<f32>() };

/// Most minibatches of an update, each of which is an entry of the plan.
const MOST_MINIBATCHES: usize = 1 << 20;

/// Most steps of a run: counts up to here are exact in f64.
const MOST_STEPS: u64 = 1 << 53;

impl Config {
    /// Steps in a segment, with 0 resolved.
    pub fn segment_steps(&self) -> usize {
        if self.segment == 0 { self.horizon } else { self.segment }
    }

    /// Segments in a rollout, S.
    pub fn segments(&self) -> usize {
        self.environments.saturating_mul(self.horizon / self.segment_steps().max(1))
    }

    /// Environment steps in an update, N T.
    pub fn steps_per_update(&self) -> u64 {
        (self.environments as u64).saturating_mul(self.horizon as u64)
    }

    /// Updates in the run.
    pub fn updates(&self) -> u64 {
        self.total_steps.div_ceil(self.steps_per_update().max(1))
    }

    /// Checks every field.
    ///
    /// # Errors
    /// [`Error::Config`] names the first field that is wrong, its value and what it should be.
    pub fn validate(&self) -> Result<(), Error> {
        let positive = |field, value: usize| {
            if value == 0 { Err(Error::config(field, value, "at least 1")) } else { Ok(()) }
        };
        positive("environments", self.environments)?;
        positive("horizon", self.horizon)?;
        positive("epochs", self.epochs)?;
        positive("minibatches", self.minibatches)?;
        if self.total_steps == 0 || self.total_steps > MOST_STEPS {
            return Err(Error::config("total_steps", self.total_steps, "from 1 to 2^53"));
        }
        if self.policy.encoder.is_empty() {
            return Err(Error::config("policy.encoder", "[]", "at least one layer"));
        }
        for &width in &self.policy.encoder {
            if width == 0 || width > 1 << 16 {
                return Err(Error::config("policy.encoder", width, "widths from 1 to 65536"));
            }
        }
        if self.policy.layers > 64 {
            return Err(Error::config("policy.layers", self.policy.layers, "at most 64"));
        }
        if !self.horizon.is_multiple_of(self.segment_steps()) {
            return Err(Error::config("segment", self.segment, "a divisor of horizon"));
        }
        let widest = self.policy.encoder.iter().copied().max().unwrap_or(1).saturating_mul(3);
        let floats = self.environments.checked_mul(self.horizon).and_then(|n| n.checked_mul(widest));
        if floats.is_none_or(|n| n > LARGEST) {
            return Err(Error::config(
                "environments",
                format!("{} (with horizon {})", self.environments, self.horizon),
                "fewer: the rollout does not fit",
            ));
        }
        let weights = self.policy.encoder.windows(2).fold(0, |n: usize, w| n.saturating_add(w[0].saturating_mul(w[1])));
        let hidden = self.policy.encoder.last().copied().unwrap_or(1);
        let weights = weights.saturating_add(hidden.saturating_mul(hidden).saturating_mul(3 * self.policy.layers));
        if weights > LARGEST {
            let got = format!("{:?} with {} layers", self.policy.encoder, self.policy.layers);
            return Err(Error::config("policy.encoder", got, "narrower: the weights do not fit"));
        }
        if self.environments * self.horizon > u32::MAX as usize / 4 {
            return Err(Error::config("environments", self.environments, "at most 2^30 steps in a rollout"));
        }
        if self.segments() < self.minibatches {
            return Err(Error::config(
                "minibatches",
                self.minibatches,
                "at most the number of segments (environments * horizon / segment)",
            ));
        }
        if self.epochs.checked_mul(self.minibatches).is_none_or(|n| n > MOST_MINIBATCHES) {
            let got = format!("{} (with {} minibatches)", self.epochs, self.minibatches);
            return Err(Error::config("epochs", got, "at most 2^20 minibatches in an update"));
        }
        let within = |field, value: f32, low: f32, high: f32, expected| {
            if value >= low && value <= high { Ok(()) } else { Err(Error::config(field, value, expected)) }
        };
        within("gamma", self.gamma, 0.0, 1.0, "in [0, 1]")?;
        within("lambda", self.lambda, 0.0, 1.0, "in [0, 1]")?;
        within("value_clip", self.value_clip, 0.0, f32::MAX, "0 (off) or positive and finite")?;
        within("value_coefficient", self.value_coefficient, 0.0, f32::MAX, "not negative, finite")?;
        within("max_grad_norm", self.max_grad_norm, f32::MIN_POSITIVE, f32::MAX, "positive and finite")?;
        within("adam_beta1", self.adam_beta1, 0.0, 0.999_999, "in [0, 1)")?;
        within("adam_beta2", self.adam_beta2, 0.0, 0.999_999_9, "in [0, 1)")?;
        within("adam_epsilon", self.adam_epsilon, f32::MIN_POSITIVE, 1.0, "in (0, 1]")?;
        within("weight_decay", self.weight_decay, 0.0, 1.0, "in [0, 1]")?;
        within("priority.alpha", self.priority.alpha, 0.0, 16.0, "in [0, 16]")?;
        // A schedule is monotonic between its ends, so the two ends bound it.
        self.validate_schedules(0)?;
        self.validate_schedules(self.updates().saturating_sub(1))
    }

    /// Checks that environments of `spec` can be trained on.
    pub(crate) fn check_environment(&self, spec: &Spec) -> Result<(), Error> {
        let wrong = |what, expected: String, got: String| {
            Err(Error::Argument { operation: "UpdatePlan::compile", what, expected, got })
        };
        if !usize::try_from(spec.actions).is_ok_and(|n| (1..=MAX_ACTIONS).contains(&n)) {
            return wrong("actions", format!("from 1 to {MAX_ACTIONS}"), spec.actions.to_string());
        }
        let first = self.policy.encoder.first().copied().unwrap_or(1);
        let rows = (self.environments * self.horizon).max(first);
        let most = LARGEST / rows;
        if !(1..=most).contains(&spec.observation) {
            return wrong("elements of an observation", format!("from 1 to {most}"), spec.observation.to_string());
        }
        Ok(())
    }

    /// Checks what the schedules give for one update.
    pub(crate) fn validate_schedules(&self, update: u64) -> Result<(), Error> {
        let within = |field, schedule: &Schedule, low: f32, high: f32, expected| {
            let value = schedule.value(update);
            if value >= low && value <= high { Ok(()) } else { Err(Error::config(field, value, expected)) }
        };
        within("clip", &self.clip, f32::MIN_POSITIVE, f32::MAX, "positive and finite at every update")?;
        within("learning_rate", &self.learning_rate, 0.0, 1.0, "in [0, 1] at every update")?;
        within("entropy_coefficient", &self.entropy_coefficient, -1e3, 1e3, "in [-1000, 1000] at every update")?;
        within("priority.beta", &self.priority.beta, 0.0, 1.0, "in [0, 1] at every update")
    }
}
