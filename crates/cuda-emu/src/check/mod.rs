//! Races: who has touched which word, and whether anything orders it before what comes now.
//!
//! Inside a block, warps have vector clocks that barriers join (a barrier that warps only arrive at passes their
//! clocks on as well). An access is ordered before another one if the later warp's clock has passed the epoch in
//! which the earlier one was made; `bar.warp.sync` ends an epoch for the lanes of a warp. A fence or a release publishes
//! a warp's clock, and an atomic or strong access joins what has been published: which message it was isn't followed, so
//! that races can be missed here, not invented.
//!
//! Blocks run at once as far as anyone knows, so an access of another block is ordered only by a message: the other
//! block has made a fence since, and this one has made an atomic or strong access. Which message it was isn't followed.
//!
//! Words have 4 bytes, and a record says which of them it is about. It holds one access, so that of accesses to
//! different bytes of a word only the last is remembered: races between bytes can be missed, not invented.

mod clocks;
mod shadow;
mod word;

pub(crate) use clocks::{Clocks, merge};
pub(crate) use shadow::{Accessor, Conflict, GlobalShadow, SharedShadow};
pub(crate) use word::{WarpAccess, whole_words};
