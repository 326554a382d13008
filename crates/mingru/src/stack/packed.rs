//! One step of the stack for rollouts.
use super::MinGruStack;
use crate::{
    Error, Par, Step,
    error::{length, product, zeros},
    step,
};
use linalg::{MatMut, MatRef, PackedB, gemm_packed};

/// A stack's weights, laid out for [`MinGruStack::step`]: packed once, used for every step until they change.
#[derive(Debug)]
pub struct PackedWeights {
    stack: (usize, usize),
    layers: Vec<PackedB>,
}

/// Intermediates of [`MinGruStack::step`] for a largest batch.
#[derive(Debug)]
pub struct StepScratch {
    stack: (usize, usize),
    batch: usize,
    /// (B, 3H).
    combined: Vec<f32>,
    /// (B, H).
    x: Vec<f32>,
}

/// Inputs of [`MinGruStack::step`].
#[derive(Clone, Copy, Debug)]
pub struct StackStep<'a> {
    /// B.
    pub batch: usize,
    /// The weights.
    pub weights: &'a PackedWeights,
    /// (B, H).
    pub x: &'a [f32],
    /// (B): 0 where a new episode begins at this step, else 1.
    pub keep: &'a [f32],
}

impl MinGruStack {
    /// Room for this stack's packed weights, zero until [`Self::pack`].
    ///
    /// # Errors
    /// [`Error::Memory`] or [`Error::Product`] where there is no memory for them.
    pub fn packed_weights(&self) -> Result<PackedWeights, Error> {
        const OPERATION: &str = "MinGruStack::packed_weights";
        let mut layers = Vec::new();
        let refused = |_| Error::Memory { operation: OPERATION, elements: self.weights_len() };
        layers.try_reserve_exact(self.layers).map_err(refused)?;
        for _ in 0..self.layers {
            layers.push(PackedB::try_new(self.hidden, 3 * self.hidden)?);
        }
        Ok(PackedWeights { stack: self.size(), layers })
    }

    /// Packs `weights`, L matrices (3H, H).
    ///
    /// # Errors
    /// [`Error::Length`] or [`Error::Mismatch`]; nothing is written then.
    pub fn pack(&self, weights: &[f32], packed: &mut PackedWeights) -> Result<(), Error> {
        const OPERATION: &str = "MinGruStack::pack";
        self.check_size(OPERATION, "packed", packed.stack)?;
        length(OPERATION, "weights", self.weights_len(), weights.len())?;
        for (layer, packed) in packed.layers.iter_mut().enumerate() {
            let matrix = &weights[layer * self.layer_len()..][..self.layer_len()];
            packed.pack_nt(MatRef::new(matrix, 3 * self.hidden, self.hidden)?)?;
        }
        Ok(())
    }

    /// Scratch for steps of at most `batch` rows.
    ///
    /// # Errors
    /// [`Error::Overflow`] or [`Error::Memory`] if it does not fit.
    pub fn step_scratch(&self, batch: usize) -> Result<StepScratch, Error> {
        const OPERATION: &str = "MinGruStack::step_scratch";
        let combined = zeros(OPERATION, product(OPERATION, [batch, 3, self.hidden, 1])?)?;
        Ok(StepScratch { stack: self.size(), batch, combined, x: zeros(OPERATION, batch * self.hidden)? })
    }

    /// One step on the calling thread: `h` (L, B, H) is read and overwritten, `out` (B, H) is overwritten. The bits are
    /// those of [`Self::forward`] over a sequence of such steps. Allocates nothing.
    ///
    /// # Errors
    /// [`Error::Length`], [`Error::Mismatch`] or [`Error::Capacity`]; nothing is written then.
    pub fn step(
        &self,
        input: &StackStep<'_>,
        h: &mut [f32],
        out: &mut [f32],
        scratch: &mut StepScratch,
    ) -> Result<(), Error> {
        const OPERATION: &str = "MinGruStack::step";
        let &StackStep { batch, weights, x, keep } = input;
        self.check_size(OPERATION, "weights", weights.stack)?;
        self.check_size(OPERATION, "scratch", scratch.stack)?;
        let state = self.check_step(OPERATION, batch, scratch.batch, [x.len(), keep.len(), h.len(), out.len()])?;

        out.copy_from_slice(x);
        let combined = &mut scratch.combined[..3 * state];
        let x = &mut scratch.x[..state];
        for (layer, weights) in weights.layers.iter().enumerate() {
            x.copy_from_slice(out);
            gemm_packed(
                MatRef::new(x, batch, self.hidden)?,
                weights,
                MatMut::new(combined, batch, 3 * self.hidden)?,
                Par::Serial,
            )?;
            let input = Step { batch, hidden: self.hidden, combined, x, keep };
            step(&input, &mut h[layer * state..][..state], out)?;
        }
        Ok(())
    }
}
