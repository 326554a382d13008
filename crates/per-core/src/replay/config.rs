//! What a replay does where there is a choice.

use super::column::Column;

/// How items are drawn in proportion to their priorities.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Draws {
    /// Each draw by itself; an item may come twice.
    Independent,
    /// One draw from each of as many equal parts of the mass as there are draws (Schaul et al. 2016, section 3.3): less
    /// variance, the same probabilities. In the order of the slots.
    #[default]
    Stratified,
    /// Without replacement: no item twice in a batch.
    Distinct,
}

/// Importance weights `w[i] = (N P(i))^-beta` (Schaul et al. 2016, section 3.4), and what divides them. N is the number
/// of items, P(i) the probability of item i.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Weights {
    /// Divided by the largest weight in the whole buffer, so that the same item weighs the same in every batch:
    /// `w[i] = (P_min / P(i))^beta`, with the smallest probability above zero.
    #[default]
    OverBuffer,
    /// Divided by the largest weight of the batch, as the paper does.
    OverBatch,
    /// Not divided: those of rare items are above 1.
    Unnormalized,
}

/// The priority of an item that comes without one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NewItems {
    /// The largest priority among the items that stay in the buffer beside it; [`Config::INITIAL_PRIORITY`] where none
    /// is above zero. It falls when the item that had it is overwritten, removed or updated.
    #[default]
    LargestNow,
    /// The largest priority that was ever given to an item, be it for a moment (as one of two in the same batch); [`Config::INITIAL_PRIORITY`] where none was above zero.
    LargestEver,
}

/// What a draw does when every item has priority zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AllZero {
    /// It is refused ([`Error::AllZero`](super::Error::AllZero)).
    #[default]
    Error,
    /// All items are equally likely, with weights of 1.
    Uniform,
}

/// Where an episode ends. A value other than 0 says that it ended with this item. The columns are read at each item,
/// whether [`add`](super::Columns::add) made them or [`add_last`](super::Columns::add_last), which decides what a batch shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Episodes {
    /// In a terminal state: there is nothing to bootstrap on.
    pub terminated: Column<u8>,
    /// Cut short (time limit): the return bootstraps on the item's next observation.
    pub truncated: Option<Column<u8>>,
}

/// Returns over several steps, computed when an item is drawn.
///
/// ```text
/// m = the least of `steps`, the steps to the episode's end, and the steps to the newest or to a removed item
/// R = r[0] + g r[1] + ... + g^(m-1) r[m-1]       fma(g^k, r[k], R), k ascending; g^k = g^(k-1) * g
/// D = g^m, or 0 if the episode terminated with item m - 1
/// target = R + D * value(next_observation of item m - 1)
/// ```
///
/// A reward that is infinite gives NaN beside a power of g that is 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NStep {
    /// The most steps, at least 1.
    pub steps: usize,
    /// g, in [0, 1].
    pub discount: f32,
    /// r.
    pub reward: Column<f32>,
}

/// The settings of a [`PrioritizedReplay`](super::PrioritizedReplay).
///
/// ```
/// use per_core::replay::{Config, Draws};
/// let config = Config { alpha: 0.7, draws: Draws::Distinct, ..Config::new(1 << 20) };
/// # assert_eq!(config.capacity, 1 << 20);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Items that the ring holds, `1..2^31`.
    pub capacity: usize,
    /// Items are drawn in proportion to `priority^alpha`. Finite, at least 0. With 0 all items are equally likely,
    /// those of priority 0 too (`0^0 = 1`).
    pub alpha: f32,
    /// Added to the size of a TD error, so that its item stays reachable. Finite, at least 0.
    pub epsilon: f32,
    /// Seed of the draws, as of [`arith::random::Stream`].
    pub seed: u64,
    /// Stream of the draws: replays with one seed and different streams draw independently.
    pub stream: u64,
    /// How items are drawn.
    pub draws: Draws,
    /// What importance weights are divided by.
    pub weights: Weights,
    /// Priorities of new items.
    pub new_items: NewItems,
    /// Draws when all priorities are zero.
    pub all_zero: AllZero,
    /// Environments whose steps take turns: item i is followed, in its environment, by item `i + environments`. At
    /// least 1. A vector of environments inserts one item of each, in the same order each time; one item too few, and all
    /// that follow belong to the wrong environment.
    pub environments: usize,
    /// Where an episode ends. Without it none does.
    pub episodes: Option<Episodes>,
    /// Returns over several steps.
    pub n_step: Option<NStep>,
}

impl Config {
    /// Priority of a new item where there is no other to go by.
    pub const INITIAL_PRIORITY: f32 = 1.0;

    /// Settings for `capacity` items of one environment: alpha 0.6, epsilon 1e-6, seed and stream 0, and the default of each enum.
    pub fn new(capacity: usize) -> Self {
        Self {
            capacity,
            alpha: 0.6,
            epsilon: 1e-6,
            seed: 0,
            stream: 0,
            draws: Draws::default(),
            weights: Weights::default(),
            new_items: NewItems::default(),
            all_zero: AllZero::default(),
            environments: 1,
            episodes: None,
            n_step: None,
        }
    }
}
