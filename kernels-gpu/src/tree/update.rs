//! Updates of leaves: from errors, to given priorities, of new items, of those that go.

use super::apply::{Priority, Tree, Whose, update};
use super::head::Head;

/// Sets leaf `indices[j]` to `(|td[j]| + eps)^alpha`, the power of the priority `|td[j]| + eps`, and all sums above it. Of
/// updates for one leaf the last counts.
///
/// Inputs: `indices` (m), `td` (m). Changed: `leaves`, `nodes`, `head`, `claims`, `raw` (the module's text); `status`
/// ([`crate::fault`]): indices that aren't below the capacity, priorities or powers that aren't finite. Such updates are
/// passed over, and so are those of index [`NOTHING`](super::NOTHING) and of items that aren't there, without a word.
///
/// One thread an update. A launch takes one number for each of m, faulty or not.
///
/// # Safety
/// The crate's conventions, and the tree is as the module says.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn seg_tree_update_f32(
    leaves: *mut f32,
    nodes: *mut u64,
    head: *mut Head,
    claims: *mut u64,
    raw: *mut f32,
    status: *mut u64,
    indices: *const u32,
    td: *const f32,
    capacity: u32,
    m: u32,
    alpha: f32,
    eps: f32,
) {
    let tree = Tree { leaves, nodes, head, claims, raw, status, capacity };
    // SAFETY: the caller's; both are called for j < m.
    unsafe {
        update(
            tree,
            m,
            Whose::Present,
            |j| *indices.add(j as usize),
            |j| Priority::of_error(*td.add(j as usize), eps, alpha),
        );
    }
}

/// Sets leaf `indices[j]` to `powers[j]`, as `SumTree::update` does, and all sums above it.
///
/// Inputs: `indices` (m), `powers` (m): priorities that are raised already. The rest as of [`seg_tree_update_f32`]; the
/// largest priority that there ever was takes no notice of these.
///
/// # Safety
/// The crate's conventions, and the tree is as the module says.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn seg_tree_set_f32(
    leaves: *mut f32,
    nodes: *mut u64,
    head: *mut Head,
    claims: *mut u64,
    status: *mut u64,
    indices: *const u32,
    powers: *const f32,
    capacity: u32,
    m: u32,
) {
    let tree = Tree { leaves, nodes, head, claims, raw: core::ptr::null_mut(), status, capacity };
    // SAFETY: the caller's; both are called for j < m.
    unsafe {
        let whose = Whose::Present;
        update(tree, m, whose, |j| *indices.add(j as usize), |j| Priority::as_given(*powers.add(j as usize)));
    }
}

/// The priority of a new item where no item had one before: `Config::INITIAL_PRIORITY`.
const INITIAL: f32 = 1.0;

/// Sets the leaves of m new items of a ring, `(inserted + j) % capacity` for j in 0..m, to the powers of their priorities, and
/// all sums above them.
///
/// Inputs: `inserted` (1), items inserted before; `priorities` (m), before alpha. If these are null, all get the largest: that
/// of the first key at `largest`, of a max tree over `raw` from which the items that were there have been removed
/// (`NewItems::LargestNow`); or, if that is null too, the largest that there ever was (`NewItems::LargestEver`); 1 where there
/// is none. m <= capacity. The rest as of [`seg_tree_update_f32`]. It doesn't change `inserted`, which the rows need too.
///
/// # Safety
/// The crate's conventions, and the tree is as the module says.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn seg_tree_insert_f32(
    leaves: *mut f32,
    nodes: *mut u64,
    head: *mut Head,
    claims: *mut u64,
    raw: *mut f32,
    status: *mut u64,
    inserted: *const u64,
    priorities: *const f32,
    largest: *const u32,
    capacity: u32,
    m: u32,
    alpha: f32,
) {
    let tree = Tree { leaves, nodes, head, claims, raw, status, capacity };
    // SAFETY: the caller's. Where the head's is used, it changes only from 0 to that of INITIAL, which is the same.
    let (inserted, largest) = unsafe {
        let ever = largest.is_null();
        (*inserted, if ever { super::head::largest(head) } else { super::extremes::largest(*largest) })
    };
    // There are leaves.
    let first = inserted.checked_rem(u64::from(capacity)).unwrap_or(0) as u32;
    let largest = if largest > 0.0 { largest } else { INITIAL };
    let index = |j: u32| if j < capacity - first { first + j } else { first + j - capacity };
    let priority = |j: u32| {
        // SAFETY: called for j < m.
        let raw = if priorities.is_null() { largest } else { unsafe { *priorities.add(j as usize) } };
        Priority::raised(raw, alpha)
    };
    // SAFETY: the caller's.
    unsafe { update(tree, m, Whose::New, index, priority) }
}

/// Takes items out: leaf `indices[j]` becomes 0, and its priority before alpha [`ABSENT`](super::ABSENT), until a new item comes there.
///
/// Inputs: `indices` (m), which may repeat. The rest as of [`seg_tree_update_f32`].
///
/// # Safety
/// The crate's conventions, and the tree is as the module says; `raw` isn't null.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn seg_tree_remove_f32(
    leaves: *mut f32,
    nodes: *mut u64,
    head: *mut Head,
    claims: *mut u64,
    raw: *mut f32,
    status: *mut u64,
    indices: *const u32,
    capacity: u32,
    m: u32,
) {
    let tree = Tree { leaves, nodes, head, claims, raw, status, capacity };
    // SAFETY: the caller's; called for j < m.
    unsafe {
        update(tree, m, Whose::New, |j| *indices.add(j as usize), |_| Priority::NONE);
    }
}
