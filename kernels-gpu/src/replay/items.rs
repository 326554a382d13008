//! Items have numbers, which name them for ever; a number's slot is the number modulo the capacity.

use super::NO_SLOT;
use crate::device::atomic::fetch_add_u64;
use crate::device::thread::index_1d;
use crate::fault::{Fault, report};

/// `out[j]` is the slot of item `numbers[j]`, or [`NO_SLOT`]: for an item that is gone (overwritten or removed), which `stale`
/// counts; for a number that none has yet, of which `status` tells ([`crate::fault`]; the number's low half); and for
/// `u64::MAX`, which names what couldn't be drawn, without a word.
///
/// Inputs: `numbers` (m); `inserted` (the module's text); `raw` (capacity), below zero where there is no item. Output: `out`
/// (m). Changed: `stale` (1), `status`.
///
/// # Safety
/// The crate's conventions.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn replay_slots_u32(
    numbers: *const u64,
    inserted: *const u64,
    raw: *const f32,
    out: *mut u32,
    stale: *mut u64,
    status: *mut u64,
    capacity: u32,
    m: u32,
) {
    let j = index_1d();
    if j >= m as usize {
        return;
    }
    // SAFETY: below m.
    let (number, next) = unsafe { (*numbers.add(j), *inserted) };
    let mut slot = NO_SLOT;
    if number < next {
        // Items that are there have the last `capacity` numbers, and there are slots.
        let at = number.checked_rem(u64::from(capacity)).filter(|_| next - number <= u64::from(capacity));
        // SAFETY: below the capacity; only atomic operations access `stale`.
        unsafe {
            match at.filter(|&at| *raw.add(at as usize) >= 0.0) {
                Some(at) => slot = at as u32,
                None => _ = fetch_add_u64(stale, 1),
            }
        }
    } else if number != u64::MAX {
        // SAFETY: the caller's.
        unsafe { report(status, Fault::OutOfRange(number as u32), j as u32) };
    }
    // SAFETY: below m, and no other thread has this j.
    unsafe { *out.add(j) = slot };
}

/// `out[j] = (inserted + j) % capacity`: the slots of the next m items.
///
/// Input: `inserted` (the module's text). Output: `out` (m).
///
/// # Safety
/// The crate's conventions.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn replay_next_slots_u32(inserted: *const u64, out: *mut u32, capacity: u32, m: u32) {
    let j = index_1d();
    if j < m as usize {
        // SAFETY: below m, and no other thread has this j.
        unsafe {
            let slot = (*inserted).wrapping_add(j as u64).checked_rem(u64::from(capacity));
            *out.add(j) = slot.map_or(NO_SLOT, |slot| slot as u32);
        }
    }
}

/// `*counter += by`: items that were inserted, once their rows and priorities are.
///
/// # Safety
/// The crate's conventions.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn replay_advance_u64(counter: *mut u64, by: u64) {
    if index_1d() == 0 {
        // SAFETY: no other thread accesses it.
        unsafe { *counter = (*counter).wrapping_add(by) };
    }
}
