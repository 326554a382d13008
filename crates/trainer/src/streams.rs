//! Addresses of random draws: every use has streams of its own, so that no two draws share an address.

use arith::random::Stream;

/// What a stream is for. The numbers are part of every run's bits: they never change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Initial parameters; index: matrix.
    Initialize = 1,
    /// Environments of the rollout; index: environment.
    Environment = 2,
    /// Actions of the rollout; index: environment.
    Action = 3,
    /// Order or draw of segments; index: 0.
    Segment = 4,
    /// Environments of an evaluation; index: episode.
    Evaluate = 5,
}

/// The stream number of `kind`'s item `index`; index < 2^56.
pub(crate) const fn address(kind: Kind, index: u64) -> u64 {
    ((kind as u64) << 56) | index
}

/// The stream of `kind`'s item `index` under `seed`.
pub(crate) const fn of(seed: u64, kind: Kind, index: usize) -> Stream {
    Stream::new(seed, address(kind, index as u64))
}
