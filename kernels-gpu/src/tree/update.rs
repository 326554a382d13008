//! Updates of a tree's leaves: from errors, and to given priorities.

use super::apply::{Change, Given, Pass, Target, Tree, update};
use super::head::Head;
use core::ptr::null_mut;

/// Sets leaf `indices[j]` to `(|td[j]| + eps)^alpha`, and all sums above it. Of updates for one leaf the last counts.
///
/// Inputs: `indices` (m), `td` (m). Changed: `leaves`, `nodes`, `head`, `claims` (the module's text); `status`
/// ([`crate::fault`]). If an index isn't below the capacity, or a priority or power isn't finite, nothing else changes but
/// [`Head::refused`]. Updates of index [`NOTHING`](super::NOTHING) are none.
///
/// `pass`: 0 to look at the batch and apply it in one launch, which takes m^2 looks; or 1 to look in one launch, and then 2 to apply
/// in the next one.
///
/// One thread an update. What is applied takes m numbers.
///
/// # Safety
/// The crate's conventions, and the tree is as the module says.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn seg_tree_update_f32(
    leaves: *mut f32,
    nodes: *mut u64,
    head: *mut Head,
    claims: *mut u64,
    status: *mut u64,
    indices: *const u32,
    td: *const f32,
    capacity: u32,
    m: u32,
    pass: u32,
    alpha: f32,
    eps: f32,
) {
    let tree = Tree { leaves, nodes, head, claims, raw: null_mut(), stale: null_mut(), status, capacity };
    // SAFETY: the caller's; both are called for j < m.
    unsafe {
        update(
            tree,
            (m, Pass(pass)),
            Change::Update(alpha),
            |j| Target::of_index(*indices.add(j as usize), capacity),
            |j| Given::of_error(*td.add(j as usize), eps),
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
    pass: u32,
) {
    let tree = Tree { leaves, nodes, head, claims, raw: null_mut(), stale: null_mut(), status, capacity };
    // SAFETY: the caller's; both are called for j < m.
    unsafe {
        update(
            tree,
            (m, Pass(pass)),
            Change::Set,
            |j| Target::of_index(*indices.add(j as usize), capacity),
            |j| Given::priority(*powers.add(j as usize)),
        );
    }
}
