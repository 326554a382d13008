//! Optimizers.

use super::*;

kernels! {
    module "optim";

    /// A step of Adam: `adam_step_f32`. `step` is a `trainer::optim::AdamStep`.
    safe AdamStep() ["adam_step_f32"] {
        step: read [f32; 8],
        gradient: read [f32; n],
        first: update [f32; n],
        second: update [f32; n],
        parameters: update [f32; n],
        n: size,
    }
    where [] work Work::threads(n), block ANY;
}
