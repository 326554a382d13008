//! A step of the trainer's optimizer. The formula is the source of crate `trainer`.

#[path = "../../crates/trainer/src/optim/formula.rs"]
mod formula;

use crate::device::thread::{index_1d, sync_threads, thread_idx_x};
use crate::shared_array;
pub use formula::AdamStep;

/// Floats of an [`AdamStep`].
const NUMBERS: usize = size_of::<AdamStep>() / size_of::<f32>();

shared_array!(
    /// The step: read once by a block.
    numbers, "adam_step_numbers": f32; NUMBERS
);

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
    let (i, thread) = (index_1d(), thread_idx_x());
    if thread < NUMBERS as u32 {
        // SAFETY: there is such a number, and it is this thread's.
        unsafe { numbers().write(thread, *step.cast::<f32>().add(thread as usize)) };
    }
    sync_threads();
    if i < n as usize {
        // SAFETY: nothing is written to shared memory after the barrier; i < n, and no other thread has this i.
        unsafe {
            let [scale, coefficient, beta1, beta2, epsilon, rate, root, keep] =
                unrolled!([0 1 2 3 4 5 6 7] |number| numbers().read(number));
            let step = AdamStep { scale, coefficient, beta1, beta2, epsilon, rate, root, keep };
            let before = (*first.add(i), *second.add(i), *parameters.add(i));
            (*first.add(i), *second.add(i), *parameters.add(i)) = step.apply(*gradient.add(i), before);
        }
    }
}
