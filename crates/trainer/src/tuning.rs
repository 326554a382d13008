//! Numbers that decide speed and nothing else: no result depends on them.

/// Environments that one task steps together through a whole rollout: rows of the policy's products.
pub(crate) const GROUP: usize = 32;

/// Rows of a minibatch that pass through encoder, decoder and loss together; at 64 units their activations take about
/// 200 KiB, well inside a second-level cache.
pub(crate) const BLOCK_ROWS: usize = 128;
