//! One step of a rollout.
use super::{forward::forward_row, row::Row};
use crate::{
    Error, Shape, Storage,
    error::length,
    lanes::{self, LANES},
};
use arith::simd::{Isa, Kernel};

/// Inputs of [`step`].
#[derive(Clone, Copy, Debug)]
pub struct Step<'a, S> {
    /// B, independent rows.
    pub batch: usize,
    /// H, units.
    pub hidden: usize,
    /// (B, 3H): `[hidden | gate | proj]` in each row.
    pub combined: &'a [S],
    /// (B, H): the highway's input.
    pub x: &'a [S],
    /// (B): 0 where a new episode begins at this step, else 1.
    pub keep: &'a [f32],
}

/// One step on the calling thread: `h` (B, H) is read and overwritten, `out` (B, H) is overwritten. The bits are those
/// of [`forward`](crate::forward) over a sequence of such steps.
///
/// # Errors
/// [`Error::Length`] or [`Error::Overflow`]; nothing is written then.
pub fn step<S: Storage>(input: &Step<'_, S>, h: &mut [f32], out: &mut [S]) -> Result<(), Error> {
    step_on(Isa::detect(), input, h, out)
}

/// [`step`] with the instruction set chosen by the caller; the bits are the same.
///
/// # Errors
/// As [`step`].
pub fn step_on<S: Storage>(isa: Isa, input: &Step<'_, S>, h: &mut [f32], out: &mut [S]) -> Result<(), Error> {
    const OPERATION: &str = "mingru::step";
    let n = Shape { batch: input.batch, time: 1, hidden: input.hidden }.lengths(OPERATION)?;
    length(OPERATION, "combined", n.combined, input.combined.len())?;
    length(OPERATION, "x", n.sequence, input.x.len())?;
    length(OPERATION, "keep", n.keep, input.keep.len())?;
    length(OPERATION, "h", n.state, h.len())?;
    length(OPERATION, "out", n.sequence, out.len())?;
    isa.run(StepKernel { input, h, out });
    Ok(())
}

struct StepKernel<'a, S> {
    input: &'a Step<'a, S>,
    h: &'a mut [f32],
    out: &'a mut [S],
}

impl<S: Storage> Kernel for StepKernel<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Step { batch, hidden, combined, x, keep } = *self.input;
        for row in 0..batch {
            let units = row * hidden..(row + 1) * hidden;
            let inputs = Row::new(combined, x, keep, row, hidden, 0);
            let (h, h_tail) = self.h[units.clone()].split_at_mut(hidden - hidden % LANES);
            let mut tail = [0.0; LANES];
            tail[..h_tail.len()].copy_from_slice(h_tail);
            forward_row(inputs, h, &mut tail, &mut self.out[units], 0);
            lanes::store_tail(h_tail, 0, &tail);
        }
    }
}
