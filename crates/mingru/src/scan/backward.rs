//! The backward scan: chunks recomputed from checkpoints, the carry replayed in reference order.
use super::tiles::{self, Tile};
use crate::{
    Error, MAX_INTERVAL, Par, Shape, Storage, cell,
    error::length,
    shape::{check_interval, checkpoints_len},
    tile::Shared,
    tuning::TILE,
};
use arith::simd::{Isa, Kernel};

/// Inputs of [`backward`].
#[derive(Clone, Copy, Debug)]
pub struct Backward<'a, S> {
    /// B, T and H.
    pub shape: Shape,
    /// K of the forward scan that wrote `checkpoints`.
    pub interval: usize,
    /// (B, T, 3H), as given to the forward scan.
    pub combined: &'a [S],
    /// (B, T, H), as given to the forward scan.
    pub x: &'a [S],
    /// (B, T), as given to the forward scan.
    pub keep: &'a [f32],
    /// (B, ceil(T / K), H), from the forward scan.
    pub checkpoints: &'a [f32],
    /// (B, T, H): the loss's gradient to `out`.
    pub d_out: &'a [S],
    /// (B, H): the loss's gradient to `h_last`.
    pub d_h_last: &'a [f32],
}

/// Outputs of [`backward`], all overwritten.
#[derive(Debug)]
pub struct Gradients<'a, S> {
    /// (B, T, 3H).
    pub d_combined: &'a mut [S],
    /// (B, T, H): the highway's part only.
    pub d_x: &'a mut [S],
    /// (B, H).
    pub d_h0: &'a mut [f32],
}

/// The backward scan. `keep` gets no gradient.
///
/// With `dh_t` the gradient to `h_t`: `dh_t = fma(z'_{t+1}, keep_{t+1} * dh_{t+1}, s_t * d_out_t)`, t descending,
/// `d_gate = dh * ((g - keep h_{t-1}) * (z z'))`, `d_hidden = dh * (z g')`, `d_proj = (d_out * (h - x)) * (s s')`,
/// `d_x = d_out * s'`, `d_h0 = z'_0 * (keep_0 * dh_0)`. `g'` at 0 is 1.
///
/// The bits depend on the inputs alone, not on `interval` or `par`. Nothing is allocated.
///
/// # Errors
/// [`Error::Length`], [`Error::Interval`] or [`Error::Overflow`]; nothing is written then.
pub fn backward<S: Storage>(input: &Backward<'_, S>, output: Gradients<'_, S>, par: Par) -> Result<(), Error> {
    backward_on(Isa::detect(), input, output, par)
}

/// [`backward`] with the instruction set chosen by the caller; the bits are the same.
///
/// # Errors
/// As [`backward`].
pub fn backward_on<S: Storage>(
    isa: Isa,
    input: &Backward<'_, S>,
    output: Gradients<'_, S>,
    par: Par,
) -> Result<(), Error> {
    const OPERATION: &str = "mingru::backward";
    let shape = input.shape;
    check_interval(OPERATION, input.interval)?;
    let n = shape.lengths(OPERATION)?;
    length(OPERATION, "combined", n.combined, input.combined.len())?;
    length(OPERATION, "x", n.sequence, input.x.len())?;
    length(OPERATION, "keep", n.keep, input.keep.len())?;
    length(OPERATION, "checkpoints", checkpoints_len(shape, input.interval)?, input.checkpoints.len())?;
    length(OPERATION, "d_out", n.sequence, input.d_out.len())?;
    length(OPERATION, "d_h_last", n.state, input.d_h_last.len())?;
    length(OPERATION, "d_combined", n.combined, output.d_combined.len())?;
    length(OPERATION, "d_x", n.sequence, output.d_x.len())?;
    length(OPERATION, "d_h0", n.state, output.d_h0.len())?;
    let d_combined = Shared::new(output.d_combined);
    let d_x = Shared::new(output.d_x);
    let d_h0 = Shared::new(output.d_h0);
    tiles::for_each(shape, par, |tile| isa.run(BackwardTile { input, d_combined, d_x, d_h0, tile }));
    Ok(())
}

struct BackwardTile<'a, S> {
    input: &'a Backward<'a, S>,
    d_combined: Shared<'a, S>,
    d_x: Shared<'a, S>,
    d_h0: Shared<'a, f32>,
    tile: Tile,
}

/// What the first sweep over a chunk leaves for the second, for one step of a tile.
#[derive(Clone, Copy)]
struct Saved {
    direct: [f32; TILE],
    gate: [f32; TILE],
    hidden: [f32; TILE],
    zc: [f32; TILE],
}

const EMPTY: Saved = Saved { direct: [0.0; TILE], gate: [0.0; TILE], hidden: [0.0; TILE], zc: [0.0; TILE] };

impl<S: Storage> Kernel for BackwardTile<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Tile { row, first, width } = self.tile;
        let input = self.input;
        let Shape { time, hidden, .. } = input.shape;
        let chunks = time.div_ceil(input.interval);
        let state = row * hidden + first;
        let mut saved = [EMPTY; MAX_INTERVAL];
        let mut h = [0.0_f32; TILE];
        // The gradient's carry: keep_{t+1} * dh_{t+1}, and z'_{t+1}.
        let mut zc_next = [1.0_f32; TILE];
        let mut carried = [0.0_f32; TILE];
        carried[..width].copy_from_slice(&input.d_h_last[state..state + width]);

        for chunk in (0..chunks).rev() {
            let start = chunk * input.interval;
            let steps = input.interval.min(time - start);
            let entering = (row * chunks + chunk) * hidden + first;
            h[..width].copy_from_slice(&input.checkpoints[entering..entering + width]);
            for (t, saved) in (start..start + steps).zip(&mut saved) {
                let step = row * time + t;
                let combined = &input.combined[step * 3 * hidden..][..3 * hidden];
                let at = step * hidden + first;
                // SAFETY: this tile alone writes these units of this row, and the ranges of one step are disjoint.
                let (d_proj, d_x) = unsafe {
                    (self.d_combined.range((step * 3 + 2) * hidden + first, width), self.d_x.range(at, width))
                };
                recompute_row(
                    &combined[first..][..width],
                    &combined[hidden + first..][..width],
                    &combined[2 * hidden + first..][..width],
                    &input.x[at..at + width],
                    &input.d_out[at..at + width],
                    input.keep[step],
                    &mut h,
                    saved,
                    d_proj,
                    d_x,
                );
            }
            for (t, saved) in (start..start + steps).zip(&saved).rev() {
                let step = row * time + t;
                let at = step * 3 * hidden + first;
                // SAFETY: as above.
                let (d_hidden, d_gate) =
                    unsafe { (self.d_combined.range(at, width), self.d_combined.range(at + hidden, width)) };
                replay_row(saved, input.keep[step], &mut zc_next, &mut carried, d_hidden, d_gate);
            }
        }
        // SAFETY: as above.
        let d_h0 = unsafe { self.d_h0.range(state, width) };
        for j in 0..width {
            d_h0[j] = zc_next[j] * carried[j];
        }
    }
}

#[inline(always)]
#[allow(clippy::too_many_arguments)]
fn recompute_row<S: Storage>(
    hidden: &[S],
    gate: &[S],
    proj: &[S],
    x: &[S],
    d_out: &[S],
    keep: f32,
    h: &mut [f32; TILE],
    saved: &mut Saved,
    d_proj: &mut [S],
    d_x: &mut [S],
) {
    let n = d_x.len();
    let (hidden, gate, proj, x, d_out) = (&hidden[..n], &gate[..n], &proj[..n], &x[..n], &d_out[..n]);
    let (h, d_proj) = (&mut h[..n], &mut d_proj[..n]);
    let (direct, gate_factor, hidden_factor, zc) =
        (&mut saved.direct[..n], &mut saved.gate[..n], &mut saved.hidden[..n], &mut saved.zc[..n]);
    for j in 0..n {
        let gates = cell::gates(hidden[j].load(), gate[j].load());
        let carried = keep * h[j];
        h[j] = cell::state(&gates, carried);
        let f = cell::factors(&gates, carried, h[j], proj[j].load(), x[j].load(), d_out[j].load());
        direct[j] = f.direct;
        gate_factor[j] = f.gate;
        hidden_factor[j] = f.hidden;
        zc[j] = gates.zc;
        d_proj[j] = S::store(f.d_proj);
        d_x[j] = S::store(f.d_x);
    }
}

#[inline(always)]
fn replay_row<S: Storage>(
    saved: &Saved,
    keep: f32,
    zc_next: &mut [f32; TILE],
    carried: &mut [f32; TILE],
    d_hidden: &mut [S],
    d_gate: &mut [S],
) {
    let n = d_hidden.len();
    let (zc_next, carried, d_gate) = (&mut zc_next[..n], &mut carried[..n], &mut d_gate[..n]);
    let (direct, gate, hidden, zc) = (&saved.direct[..n], &saved.gate[..n], &saved.hidden[..n], &saved.zc[..n]);
    for j in 0..n {
        let dh = cell::state_gradient(zc_next[j], carried[j], direct[j]);
        d_hidden[j] = S::store(dh * hidden[j]);
        d_gate[j] = S::store(dh * gate[j]);
        carried[j] = keep * dh;
        zc_next[j] = zc[j];
    }
}
