//! Advantages and returns. All of (steps, batch) is by time; flags are bytes.

use super::*;

kernels! {
    module "advantage";

    /// Generalized advantage estimation: `gae_f32`.
    ///
    /// `failed` becomes the smallest number of an environment with a return that isn't finite.
    safe Gae() ["gae_f32"] {
        rewards: read [f32; steps * batch],
        values: read [f32; steps * batch],
        terminated: read [u8; steps * batch],
        truncated: read [u8; steps * batch],
        bootstrap: read [f32; steps * batch],
        last_values: read [f32; batch],
        advantages: write [f32; steps * batch],
        returns: write [f32; steps * batch],
        failed: update [u32; 1],
        steps: size, batch: size, gamma: f32, lambda: f32,
    }
    where [] work Work::threads(batch), block ANY;

    /// The same with V-trace's clipped importance ratios: `vtrace_f32`.
    safe Vtrace() ["vtrace_f32"] {
        rewards: read [f32; steps * batch],
        values: read [f32; steps * batch],
        terminated: read [u8; steps * batch],
        truncated: read [u8; steps * batch],
        bootstrap: read [f32; steps * batch],
        ratios: read [f32; steps * batch],
        last_values: read [f32; batch],
        advantages: write [f32; steps * batch],
        returns: write [f32; steps * batch],
        failed: update [u32; 1],
        steps: size, batch: size, gamma: f32, lambda: f32, rho_bar: f32, c_bar: f32,
    }
    where [] work Work::threads(batch), block ANY;
}
