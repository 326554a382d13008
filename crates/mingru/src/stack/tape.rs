//! What a forward pass leaves for the backward pass.
use super::MinGruStack;
use crate::{
    Error, Shape, checkpoints_len,
    error::{product, zeros},
    shape::check_interval,
};

/// Intermediates of a stack's forward pass, allocated once for a largest batch and time and reused for smaller ones.
#[derive(Debug)]
pub struct Tape {
    pub(super) stack: (usize, usize),
    pub(super) capacity: (usize, usize),
    pub(super) interval: usize,
    /// Batch and time of the forward pass on the tape.
    pub(super) current: Option<(usize, usize)>,
    /// (B, T).
    pub(super) keep: Vec<f32>,
    /// L times (B, T, H).
    pub(super) inputs: Vec<f32>,
    /// L times (B, T, 3H).
    pub(super) combined: Vec<f32>,
    /// L times (B, ceil(T / K), H).
    pub(super) checkpoints: Vec<f32>,
    /// (B, T, 3H).
    pub(super) d_combined: Vec<f32>,
    /// (B, T, H) each.
    pub(super) d_sequence: [Vec<f32>; 2],
    pub(super) scratch: linalg::Scratch,
}

impl MinGruStack {
    /// A tape for at most `batch` rows of at most `time` steps, with a checkpoint every `interval` steps.
    ///
    /// # Errors
    /// [`Error::Interval`], or [`Error::Overflow`] and [`Error::Memory`] if it does not fit.
    pub fn tape(&self, batch: usize, time: usize, interval: usize) -> Result<Tape, Error> {
        const OPERATION: &str = "MinGruStack::tape";
        check_interval(OPERATION, interval)?;
        let shape = Shape { batch, time, hidden: self.hidden };
        let n = shape.lengths(OPERATION)?;
        let times_layers = |len: usize| product(OPERATION, [self.layers, len, 1, 1]);
        let zeros = |len: usize| zeros(OPERATION, len);
        let (inputs, combined) = (times_layers(n.sequence)?, times_layers(n.combined)?);
        let checkpoints = times_layers(checkpoints_len(shape, interval)?)?;
        Ok(Tape {
            stack: self.size(),
            capacity: (batch, time),
            interval,
            current: None,
            keep: zeros(n.keep)?,
            inputs: zeros(inputs)?,
            combined: zeros(combined)?,
            checkpoints: zeros(checkpoints)?,
            d_combined: zeros(if self.layers == 0 { 0 } else { n.combined })?,
            d_sequence: [zeros(n.sequence)?, zeros(n.sequence)?],
            scratch: linalg::Scratch::new(),
        })
    }
}
