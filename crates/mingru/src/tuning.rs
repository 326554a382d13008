//! Sizes that decide speed and nothing else.
//!
//! Chosen on one Zen 4 core, f32, (B, T, H) = (64, 128, 256) with K = 8, by CPU time, variants run in turns: 32, 64, 128 and
//! 256 slots gave the backward scan 4.3, 3.8, 3.1 and 3.1 ns a unit and step. Streaming stores for its outputs won at
//! some shapes and lost more at others.

/// Blocks that the backward scan saves of a chunk, over all its steps: they stay in the first two cache levels.
pub(crate) const SLOTS: usize = 128;

/// Most blocks of a step that it works on before the next step.
pub(crate) const MAX_BLOCKS: usize = 32;

/// Least units of a tile, where a row is divided among threads: a multiple of [`SPAN`].
pub(crate) const TILE: usize = 64;

/// Units from a block that the forward scan works on to the block that it asks memory for.
pub(crate) const AHEAD: usize = 512;
