//! What has to be right after priorities of items have changed.

use super::super::extremes;
use super::super::head::Head;
use super::super::order::{Ascending, Descending};
use super::super::rebuild::rebuild;
use super::window::Window;
use crate::blocks::{FANOUT, WIDTH};
use crate::device::grid::is_last_of;
use crate::device::thread::{block_idx_x, index_1d, thread_idx_x};

/// Brings all that follows from leaves up to date after [`replay_update_f32`](super::replay_update_f32),
/// [`replay_remove_f32`](super::replay_remove_f32) or [`replay_insert_f32`](super::replay_insert_f32): the sums, where they
/// must be made anew, and the trees of the smallest power and of the largest priority. Nothing where the batch was refused.
///
/// Inputs: `leaves`, `raw` (the text of [`super::super`]); `numbers` (m), those of the items; if these are null, the m items
/// from `inserted` on are new, and are counted: `inserted` grows by m. Changed: `nodes`, `head`; `smallest_keys`,
/// `smallest_first` over the leaves, `largest_keys`, `largest_first` over `raw` (the text of [`extremes`]); `inserted`.
///
/// It takes a launch of its own, since leaves must have their last priorities. Blocks of 256 threads, half a warp for each item and
/// a block for 4,096 leaves.
///
/// # Safety
/// The crate's conventions, and tree and replay are as the modules say.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn replay_follow_f32(
    leaves: *const f32,
    nodes: *mut u64,
    head: *mut Head,
    raw: *const f32,
    smallest_keys: *mut u32,
    smallest_first: *mut u32,
    largest_keys: *mut u32,
    largest_first: *mut u32,
    numbers: *const u64,
    inserted: *mut u64,
    capacity: u32,
    m: u32,
) {
    // Blocks that have items. The others are there for sums that must be made anew.
    let blocks = m.div_ceil(WIDTH / FANOUT).max(1);
    // SAFETY: the caller's; it changes when all blocks have been here.
    let ready = unsafe { (*head).ready } != 0;
    if ready && block_idx_x() >= blocks {
        return;
    }
    // SAFETY: the caller's; these change when all blocks with items have been here.
    let (refused, next) = unsafe { ((*head).refused != 0, *inserted) };
    let is_new = numbers.is_null();
    let (skipped, stay) = if is_new { (m.saturating_sub(capacity), m.min(capacity)) } else { (0, m) };
    if !refused && block_idx_x() < blocks {
        let j = (index_1d() / FANOUT as usize) as u32;
        let window = Window::new(capacity as usize, next + u64::from(skipped));
        let mut slot = None;
        if j < stay {
            slot = if is_new {
                let slot = window.cursor + j as usize;
                Some(if slot < capacity as usize { slot } else { slot - capacity as usize })
            } else {
                // SAFETY: below m.
                window.slot(unsafe { *numbers.add(j as usize) })
            };
        }
        // None is above the capacity.
        let slot = slot.map_or(u32::MAX, |slot| slot as u32);
        // SAFETY: all lanes come here.
        unsafe {
            extremes::Tree::<Ascending>::new(leaves, smallest_keys, smallest_first, capacity).climb(slot);
            extremes::Tree::<Descending>::new(raw, largest_keys, largest_first, capacity).climb(slot);
        }
    }
    // SAFETY: all threads come here.
    let last = unsafe {
        if !ready {
            rebuild(leaves, nodes, head, capacity)
        } else if is_new {
            is_last_of(&raw mut (*head).done, blocks)
        } else {
            false
        }
    };
    if last && is_new && !refused && thread_idx_x() == 0 {
        // SAFETY: all other blocks have finished.
        unsafe { *inserted = next + u64::from(m) };
    }
}
