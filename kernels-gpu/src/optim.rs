//! A step of the trainer's optimizer. The formula is the source of crate `trainer`.

#[path = "../../crates/trainer/src/optim/formula.rs"]
mod formula;

use crate::device::thread::index_1d;
pub use formula::AdamStep;

/// A step of Adam: `trainer::optim::step` after the norm of the gradient.
///
/// `step` (1): what all elements have in common, 8 floats in the order of [`AdamStep`], in memory so that a captured graph can
/// change them. `gradient` (n) is read; `first`, `second` and `parameters` (n) are changed. One thread an element.
///
/// # Safety
/// The crate's conventions.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn adam_step_f32(
    step: *const AdamStep,
    gradient: *const f32,
    first: *mut f32,
    second: *mut f32,
    parameters: *mut f32,
    n: u32,
) {
    let i = index_1d();
    if i < n as usize {
        // SAFETY: i < n, and no other thread has this i.
        unsafe {
            let before = (*first.add(i), *second.add(i), *parameters.add(i));
            (*first.add(i), *second.add(i), *parameters.add(i)) = (*step).apply(*gradient.add(i), before);
        }
    }
}
