//! What the numbers of a tree on a device mean.

use super::scale::{Below, Storage};
use arith::fixed::Scale;

/// The total and the scale that a tree of `capacity` leaves shows, from its sum at the stored scale and what both scales
/// follow from.
pub(crate) fn shown(total: u64, shown: i32, stored: i32, capacity: usize) -> (u64, Scale) {
    // Trees have fewer than 2^31 leaves.
    let storage = Storage::of(Below { shown, stored }, capacity as u32);
    (storage.reveal(total), storage.shown())
}
