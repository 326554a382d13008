//! Addresses of random draws: each use has streams of its own.

use arith::random::Stream;

/// What a stream is for.
#[derive(Clone, Copy)]
pub(crate) enum Use {
    /// Initial weights; index: 0.
    Initialize = 1,
    /// Training environments; index: environment.
    Environment = 2,
    /// Exploration; index: 0, block: environment step.
    Explore = 3,
    /// Draws from the replay; index: 0.
    Replay = 4,
    /// Evaluation episodes; index: episode.
    Evaluate = 5,
}

/// The stream number of item `index`, below 2^56.
pub(crate) const fn address(purpose: Use, index: u64) -> u64 {
    ((purpose as u64) << 56) | index
}

/// The stream of item `index` under `seed`.
pub(crate) const fn of(seed: u64, purpose: Use, index: u64) -> Stream {
    Stream::new(seed, address(purpose, index))
}
