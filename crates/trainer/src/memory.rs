//! What a run takes, asked for before any of it is allocated: an allocation that fails ends the process.

use crate::config::Config;
use crate::error::Error;

/// 1 TiB. Some systems promise whatever they are asked for, so there is a limit of our own too.
const LARGEST: u128 = 1 << 40;

/// Refuses a valid configuration whose buffers, for observations of `observation` elements and `actions` actions, do
/// not fit the memory. (Less is counted than is used; a system that promises more than it has can't be caught.)
///
/// # Errors
/// [`Error::Memory`].
pub(crate) fn check(config: &Config, observation: usize, actions: usize) -> Result<(), Error> {
    let bytes = floats(config, observation, actions).saturating_mul(size_of::<f32>() as u128);
    // Asking is enough: nothing is touched, and it is given back at once.
    match usize::try_from(bytes) {
        Ok(n) if bytes <= LARGEST && Vec::<u8>::new().try_reserve_exact(n).is_ok() => Ok(()),
        _ => Err(Error::Memory { bytes }),
    }
}

/// Elements of the large buffers: parameters, rollout, minibatch, tape. Each factor is below 2^31, or 2^24 for the
/// observation, and saturation is as good as an exact product.
fn floats(config: &Config, observation: usize, actions: usize) -> u128 {
    let times = |factors: &[usize]| factors.iter().fold(1_u128, |p, &n| p.saturating_mul(n as u128));
    let outputs = actions.saturating_add(1);
    let mut inputs = observation;
    let (mut parameters, mut widths) = (0_u128, 0_usize);
    for &width in &config.policy.encoder {
        parameters = parameters.saturating_add(times(&[inputs, width]));
        widths = widths.saturating_add(width);
        inputs = width;
    }
    let (layers, hidden) = (config.policy.layers, inputs);
    parameters = parameters.saturating_add(times(&[layers, 3, hidden, hidden]));
    parameters = parameters.saturating_add(times(&[outputs, hidden]));

    let rows = config.environments.saturating_mul(config.horizon);
    let segments = config.segments();
    let batch = segments.div_ceil(config.minibatches.max(1)).saturating_mul(config.segment_steps());
    [
        // Values, two moments, gradient, packed forward and backward.
        parameters.saturating_mul(6),
        times(&[rows, observation.saturating_add(12)]),
        times(&[segments, layers, hidden]),
        times(&[config.environments, layers, hidden, 2]),
        times(&[batch, observation.saturating_add(8)]),
        times(&[batch, widths, 2]),
        times(&[batch, outputs, 2]),
        // A layer's input and projections, then gradients of one layer.
        times(&[batch, hidden, if layers > 0 { layers.saturating_mul(4).saturating_add(9) } else { 0 }]),
    ]
    .into_iter()
    .fold(0, u128::saturating_add)
}
