//! Items have numbers, which name them for ever; a number's slot is the number modulo the capacity.

use super::NO_SLOT;
use crate::device::thread::index_1d;

/// `out[j]` is the slot of item `numbers[j]`, or [`NO_SLOT`] if the ring has no room for it any more, or not yet. (An item that
/// was removed has its slot still; updates pass over it.)
///
/// Inputs: `numbers` (m); `inserted` (the module's text). Output: `out` (m).
///
/// # Safety
/// The crate's conventions.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn replay_slots_u32(
    numbers: *const u64,
    inserted: *const u64,
    out: *mut u32,
    capacity: u32,
    m: u32,
) {
    let j = index_1d();
    if j < m as usize {
        // SAFETY: below m, and no other thread has this j.
        unsafe {
            let (number, next) = (*numbers.add(j), *inserted);
            let there = number < next && next - number <= u64::from(capacity);
            let slot = number.checked_rem(u64::from(capacity)).filter(|_| there);
            *out.add(j) = slot.map_or(NO_SLOT, |slot| slot as u32);
        }
    }
}

/// `out[j]` is the number of the item that was inserted into `slots[j]` last; `u64::MAX` for [`NO_SLOT`] and for a slot into
/// which none was.
///
/// Inputs: `slots` (m); `inserted` (the module's text). Output: `out` (m).
///
/// # Safety
/// The crate's conventions.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn replay_numbers_u64(
    slots: *const u32,
    inserted: *const u64,
    out: *mut u64,
    capacity: u32,
    m: u32,
) {
    let j = index_1d();
    if j < m as usize {
        // SAFETY: below m, and no other thread has this j.
        unsafe {
            let (slot, next, capacity) = (u64::from(*slots.add(j)), *inserted, u64::from(capacity));
            let cursor = next.checked_rem(capacity).unwrap_or(0);
            // How many items ago.
            let age = if slot < cursor { cursor - slot } else { cursor + capacity - slot };
            *out.add(j) = if slot < capacity && age <= next { next - age } else { u64::MAX };
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
