//! The forward scan.
use super::{
    row::{Block, Row},
    tiles::{self, Tile},
};
use crate::{
    Error, Par, Shape, Storage, cell,
    error::length,
    lanes::{self, LANES},
    prefetch::prefetch,
    shape::{check_interval, checkpoints_len},
    tile::Shared,
    tuning::AHEAD,
};
use arith::simd::{Isa, Kernel};

/// Inputs of [`forward`].
#[derive(Clone, Copy, Debug)]
pub struct Forward<'a, S> {
    /// B, T and H.
    pub shape: Shape,
    /// K, steps from one checkpoint to the next, `1..=MAX_INTERVAL`.
    pub interval: usize,
    /// (B, T, 3H): `[hidden | gate | proj]` in each row.
    pub combined: &'a [S],
    /// (B, T, H): the highway's input.
    pub x: &'a [S],
    /// (B, T): 0 at the first step of a new episode, else 1.
    pub keep: &'a [f32],
    /// (B, H): the state before the first step.
    pub h0: &'a [f32],
}

/// Outputs of [`forward`], all overwritten.
#[derive(Debug)]
pub struct Outputs<'a, S> {
    /// (B, T, H).
    pub out: &'a mut [S],
    /// (B, ceil(T / K), H): the state that enters each chunk; see [`checkpoints_len`].
    pub checkpoints: &'a mut [f32],
    /// (B, H): the state after the last step (`h0` if T = 0).
    pub h_last: &'a mut [f32],
}

/// The forward scan: states in f32, in the order `h_t = fma(z', keep_t * h_{t-1}, z * g)`, t ascending.
///
/// The bits depend on the inputs alone, not on `interval` or `par`. Nothing is allocated.
///
/// # Errors
/// [`Error::Length`], [`Error::Interval`] or [`Error::Overflow`]; nothing is written then.
pub fn forward<S: Storage>(input: &Forward<'_, S>, output: Outputs<'_, S>, par: Par) -> Result<(), Error> {
    forward_on(Isa::detect(), input, output, par)
}

/// [`forward`] with the instruction set chosen by the caller; the bits are the same.
///
/// # Errors
/// As [`forward`].
pub fn forward_on<S: Storage>(isa: Isa, input: &Forward<'_, S>, output: Outputs<'_, S>, par: Par) -> Result<(), Error> {
    const OPERATION: &str = "mingru::forward";
    let shape = input.shape;
    check_interval(OPERATION, input.interval)?;
    let n = shape.lengths(OPERATION)?;
    length(OPERATION, "combined", n.combined, input.combined.len())?;
    length(OPERATION, "x", n.sequence, input.x.len())?;
    length(OPERATION, "keep", n.keep, input.keep.len())?;
    length(OPERATION, "h0", n.state, input.h0.len())?;
    length(OPERATION, "out", n.sequence, output.out.len())?;
    length(OPERATION, "checkpoints", checkpoints_len(shape, input.interval)?, output.checkpoints.len())?;
    length(OPERATION, "h_last", n.state, output.h_last.len())?;
    let out = Shared::new(output.out);
    let checkpoints = Shared::new(output.checkpoints);
    let h_last = Shared::new(output.h_last);
    tiles::for_each(shape, par, || (), |(), tile| isa.run(ForwardTile { input, out, checkpoints, h_last, tile }));
    Ok(())
}

struct ForwardTile<'a, S> {
    input: &'a Forward<'a, S>,
    out: Shared<'a, S>,
    checkpoints: Shared<'a, f32>,
    h_last: Shared<'a, f32>,
    tile: Tile,
}

impl<S: Storage> Kernel for ForwardTile<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Tile { row, first, width } = self.tile;
        let Shape { time, hidden, .. } = self.input.shape;
        let chunks = time.div_ceil(self.input.interval);
        let state = row * hidden + first;
        // SAFETY: this tile alone writes these units of this row.
        let h = unsafe { self.h_last.range(state, width) };
        h.copy_from_slice(&self.input.h0[state..state + width]);
        let (h, h_tail) = h.split_at_mut(width - width % LANES);
        let mut tail = [0.0; LANES];
        tail[..h_tail.len()].copy_from_slice(h_tail);
        // A hint's distance: nothing depends on it.
        let ahead = (AHEAD.div_ceil(width.max(1)) * hidden) as isize;
        for t in 0..time {
            if t % self.input.interval == 0 {
                let at = (row * chunks + t / self.input.interval) * hidden + first;
                // SAFETY: as above.
                let checkpoint = unsafe { self.checkpoints.range(at, width) };
                checkpoint[..h.len()].copy_from_slice(h);
                lanes::store_tail(checkpoint, h.len(), &tail);
            }
            let step = row * time + t;
            let row = Row::new(self.input.combined, self.input.x, self.input.keep, step, hidden, first);
            // SAFETY: as above.
            let out = unsafe { self.out.range(step * hidden + first, width) };
            forward_row(row, h, &mut tail, out, ahead);
        }
        lanes::store_tail(h_tail, 0, &tail);
    }
}

/// One step of some units: whole blocks with the states `h`, and the units after them with the states `tail`. `ahead` is
/// the distance of the row whose memory is asked for, in elements of `x`; 0: none.
#[inline(always)]
pub(super) fn forward_row<S: Storage>(
    row: Row<'_, S>,
    h: &mut [f32],
    tail: &mut [f32; LANES],
    out: &mut [S],
    ahead: isize,
) {
    let whole = h.len();
    for j in (0..whole).step_by(LANES) {
        let block = row.block(j);
        if ahead != 0 {
            for v in [block.hidden, block.gate, block.proj] {
                prefetch(v.as_ptr(), 3 * ahead);
            }
            prefetch(block.x.as_ptr(), ahead);
            prefetch(out[j..].as_ptr(), ahead);
        }
        forward_block(block, lanes::block_mut(h, j), lanes::block_mut(out, j));
    }
    if whole < out.len() {
        let (mut room, mut o) = ([[S::default(); LANES]; 4], [S::default(); LANES]);
        forward_block(row.tail(whole, &mut room), tail, &mut o);
        lanes::store_tail(out, whole, &o);
    }
}

#[inline(always)]
fn forward_block<S: Storage>(block: Block<'_, S>, h: &mut [f32; LANES], out: &mut [S; LANES]) {
    let Block { hidden, gate, proj, x, keep } = block;
    for i in 0..LANES {
        let gates = cell::gates(hidden[i].load(), gate[i].load());
        h[i] = cell::state(&gates, keep * h[i]);
        out[i] = S::store(cell::output(proj[i].load(), h[i], x[i].load()));
    }
}
