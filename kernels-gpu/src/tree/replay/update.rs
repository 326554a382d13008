//! Priorities of items: of those that are there, of those that go, of new ones.

use super::super::apply::{Change, Given, Pass, Target, Tree, update};
use super::super::extremes::{largest, largest_outside};
use super::super::head::{self, Head};
use super::window::Window;

/// The item with a number.
///
/// # Safety
/// There is such a number.
#[inline(always)]
unsafe fn item(numbers: *const u64, window: Window, j: u32) -> Target {
    // SAFETY: the caller's.
    let number = unsafe { *numbers.add(j as usize) };
    if number == u64::MAX {
        Target::Nothing
    } else if number >= window.next {
        Target::Unknown(number as u32)
    } else {
        // Slots are below the capacity, below 2^31.
        window.slot(number).map_or(Target::Gone, |slot| Target::Leaf(slot as u32))
    }
}

/// Sets the priorities of items `numbers[j]` to `|td[j]| + eps`, their leaves to the powers, and all sums above them. Of updates for
/// one item the last counts; items that are gone are counted. [`replay_follow_f32`](super::replay_follow_f32) comes next.
///
/// Inputs: `numbers` (m), u64::MAX for what couldn't be drawn; `td` (m); `inserted` (the module's text). Changed: `leaves`, `nodes`,
/// `head`, `claims`, `raw` (the text of [`super::super`]), `stale` (1); `status` ([`crate::fault`]). If a number is of no item so
/// far, or a priority or power isn't finite, nothing else changes but [`Head::refused`]. `pass` and threads are as of
/// [`seg_tree_update_f32`](super::super::seg_tree_update_f32).
///
/// # Safety
/// The crate's conventions, and tree and replay are as the modules say.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn replay_update_f32(
    leaves: *mut f32,
    nodes: *mut u64,
    head: *mut Head,
    claims: *mut u64,
    raw: *mut f32,
    stale: *mut u64,
    status: *mut u64,
    numbers: *const u64,
    inserted: *const u64,
    td: *const f32,
    capacity: u32,
    m: u32,
    pass: u32,
    alpha: f32,
    eps: f32,
) {
    let tree = Tree { leaves, nodes, head, claims, raw, stale, status, capacity };
    // SAFETY: the caller's; both are called for j < m.
    unsafe {
        let window = Window::new(capacity as usize, *inserted);
        update(
            tree,
            (m, Pass(pass)),
            Change::Update(alpha),
            |j| item(numbers, window, j),
            |j| Given::of_error(*td.add(j as usize), eps),
        );
    }
}

/// Takes items `numbers[j]` out: their leaves become 0, and their priorities before alpha [`ABSENT`](super::super::ABSENT),
/// until a new item comes there.
///
/// Parameters as of [`replay_update_f32`]. Numbers may repeat: all but the first are late.
///
/// # Safety
/// As [`replay_update_f32`].
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn replay_remove_f32(
    leaves: *mut f32,
    nodes: *mut u64,
    head: *mut Head,
    claims: *mut u64,
    raw: *mut f32,
    stale: *mut u64,
    status: *mut u64,
    numbers: *const u64,
    inserted: *const u64,
    capacity: u32,
    m: u32,
    pass: u32,
) {
    let tree = Tree { leaves, nodes, head, claims, raw, stale, status, capacity };
    // SAFETY: the caller's; called for j < m.
    unsafe {
        let window = Window::new(capacity as usize, *inserted);
        update(tree, (m, Pass(pass)), Change::Remove, |j| item(numbers, window, j), |_| Given::priority(0.0));
    }
}

/// The priority of a new item where no item had one before: `Config::INITIAL_PRIORITY`.
const INITIAL: f32 = 1.0;

/// Sets the leaves of n new items of a ring, `(inserted + j) % capacity`, to the powers of their priorities, and all sums
/// above them; of more items than the capacity the last ones stay. [`replay_insert_rows`](super::replay_insert_rows) and
/// [`replay_follow_f32`](super::replay_follow_f32) come next, which count them.
///
/// Inputs: `inserted` (the module's text); `priorities` (n), before alpha. If these are null, all get the largest of the items
/// that stay beside all of them (`NewItems::LargestNow`), by `largest_keys`, the keys of a max tree over `raw`; or, if those
/// are null too, the largest that there ever was (`NewItems::LargestEver`); 1 where there is none. The rest as of
/// [`replay_update_f32`].
///
/// # Safety
/// As [`replay_update_f32`], and the max tree is up to date.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn replay_insert_f32(
    leaves: *mut f32,
    nodes: *mut u64,
    head: *mut Head,
    claims: *mut u64,
    raw: *mut f32,
    status: *mut u64,
    inserted: *const u64,
    priorities: *const f32,
    largest_keys: *const u32,
    capacity: u32,
    n: u32,
    pass: u32,
    alpha: f32,
) {
    let tree = Tree { leaves, nodes, head, claims, raw, stale: core::ptr::null_mut(), status, capacity };
    let (skipped, stay) = (n.saturating_sub(capacity), n.min(capacity));
    // SAFETY: the caller's.
    let window = Window::new(capacity as usize, unsafe { *inserted } + u64::from(skipped));
    // Below the capacity.
    let first = window.cursor as u32;
    let mut default = 0.0;
    if priorities.is_null() {
        // SAFETY: the caller's; all lanes come here. The head's changes only from 0 to that of INITIAL, which is the same; leaves
        // outside of the new items' don't change.
        default = unsafe {
            if largest_keys.is_null() {
                head::largest(head)
            } else {
                largest(largest_outside(raw, largest_keys, capacity, first, stay))
            }
        };
        default = if default > 0.0 { default } else { INITIAL };
    }
    let target = |j: u32| {
        let Some(k) = j.checked_sub(skipped) else { return Target::Passing };
        // Below 2^32.
        let slot = first + k;
        Target::Leaf(if slot < capacity { slot } else { slot - capacity })
    };
    // SAFETY: called for j < n.
    let given = |j: u32| if priorities.is_null() { default } else { unsafe { *priorities.add(j as usize) } };
    // SAFETY: the caller's.
    unsafe { update(tree, (n, Pass(pass)), Change::Insert(alpha), target, |j| Given::priority(given(j))) }
}
