//! The backward scan: chunks recomputed from checkpoints, the carry replayed in reference order.
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
    tuning::{MAX_BLOCKS, SLOTS},
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
/// With `dh_t` the gradient to `h_t`, t descending from the carry `c = d_h_last`: `dh_t = c + s_t * d_out_t`,
/// `d_gate = dh * ((g - keep h_{t-1}) * (z z'))`, `d_hidden = dh * (z g')`, `d_proj = (d_out * (h - x)) * (s s')`,
/// `d_x = d_out * s'`, then `c = (z' keep) * dh`, which ends as `d_h0`. `g'` at 0 is 1.
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
    tiles::for_each(
        shape,
        par,
        || [EMPTY; SLOTS],
        |saved, tile| isa.run(BackwardTile { input, d_combined, d_x, d_h0, tile, saved }),
    );
    Ok(())
}

struct BackwardTile<'a, S> {
    input: &'a Backward<'a, S>,
    d_combined: Shared<'a, S>,
    d_x: Shared<'a, S>,
    d_h0: Shared<'a, f32>,
    tile: Tile,
    saved: &'a mut [Saved; SLOTS],
}

/// What the first sweep over a chunk leaves for the second: one block of one step.
#[derive(Clone, Copy)]
struct Saved {
    direct: [f32; LANES],
    gate: [f32; LANES],
    hidden: [f32; LANES],
    decay: [f32; LANES],
}

const EMPTY: Saved = Saved { direct: [0.0; LANES], gate: [0.0; LANES], hidden: [0.0; LANES], decay: [0.0; LANES] };

impl<S: Storage> Kernel for BackwardTile<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Tile { row, first, width } = self.tile;
        let input = self.input;
        let Shape { time, hidden, .. } = input.shape;
        let chunks = time.div_ceil(input.interval);
        let state = row * hidden + first;
        let saved = self.saved;
        let blocks = (SLOTS / input.interval).min(MAX_BLOCKS);
        let span_width = blocks * LANES;
        // The carry lives in the output.
        // SAFETY: this tile alone writes these units of this row.
        let carry = unsafe { self.d_h0.range(state, width) };
        carry.copy_from_slice(&input.d_h_last[state..state + width]);
        // A span's states and its part of the carry, up to whole blocks.
        let (mut h, mut dh) = ([0.0_f32; MAX_BLOCKS * LANES], [0.0_f32; MAX_BLOCKS * LANES]);

        for chunk in (0..chunks).rev() {
            let start = chunk * input.interval;
            let steps = input.interval.min(time - start);
            // A hint: elements from here to the same place in the chunk that is next, the one before or the next row's
            // last. Without hints the scan takes an eighth longer (f32, sequences in memory).
            let next =
                if chunk > 0 { -(input.interval as isize) } else { (time + (chunks - 1) * input.interval) as isize };
            let next = next * hidden as isize;
            for span in (0..width).step_by(span_width) {
                let n = span_width.min(width - span);
                let first = first + span;
                let entering = (row * chunks + chunk) * hidden + first;
                h[..n].copy_from_slice(&input.checkpoints[entering..entering + n]);
                for (t, saved) in (start..start + steps).zip(saved.chunks_exact_mut(blocks)) {
                    let step = row * time + t;
                    let wide = step * 3 * hidden + first;
                    let at = step * hidden + first;
                    // SAFETY: this tile alone writes these units of this row, and the ranges of a step are disjoint.
                    let (d_proj, d_x) = unsafe { (self.d_combined.range(wide + 2 * hidden, n), self.d_x.range(at, n)) };
                    let row = Row::new(input.combined, input.x, input.keep, step, hidden, first);
                    recompute_row(row, &input.d_out[at..], &mut h, saved, d_proj, d_x, next);
                }
                dh[..n].copy_from_slice(&carry[span..span + n]);
                for (t, saved) in (start..start + steps).zip(saved.chunks_exact(blocks)).rev() {
                    let wide = (row * time + t) * 3 * hidden + first;
                    // SAFETY: as above.
                    let (d_hidden, d_gate) =
                        unsafe { (self.d_combined.range(wide, n), self.d_combined.range(wide + hidden, n)) };
                    replay_row(saved, &mut dh, d_hidden, d_gate, next);
                }
                carry[span..span + n].copy_from_slice(&dh[..n]);
            }
        }
    }
}

/// The first sweep, over one step: recomputes the state and all that needs no carry.
#[inline(always)]
fn recompute_row<S: Storage>(
    row: Row<'_, S>,
    d_out: &[S],
    h: &mut [f32],
    saved: &mut [Saved],
    d_proj: &mut [S],
    d_x: &mut [S],
    next: isize,
) {
    let n = d_x.len();
    let whole = n - n % LANES;
    for (j, saved) in (0..whole).step_by(LANES).zip(saved.iter_mut()) {
        let (block, d_out) = (row.block(j), lanes::block(d_out, j));
        let (d_proj, d_x) = (lanes::block_mut(d_proj, j), lanes::block_mut(d_x, j));
        for v in [block.hidden, block.gate, block.proj, &*d_proj] {
            prefetch(v.as_ptr(), 3 * next);
        }
        for v in [block.x, d_out, &*d_x] {
            prefetch(v.as_ptr(), next);
        }
        recompute_block(block, d_out, lanes::block_mut(h, j), saved, d_proj, d_x);
    }
    if whole < n {
        let (mut room, mut d_out_room) = ([[S::default(); LANES]; 4], [S::default(); LANES]);
        let (mut p, mut q) = ([S::default(); LANES], [S::default(); LANES]);
        let (block, d_out) = (row.tail(whole, &mut room), lanes::tail(d_out, whole, &mut d_out_room));
        recompute_block(block, d_out, lanes::block_mut(h, whole), &mut saved[whole / LANES], &mut p, &mut q);
        lanes::store_tail(d_proj, whole, &p);
        lanes::store_tail(d_x, whole, &q);
    }
}

#[inline(always)]
fn recompute_block<S: Storage>(
    block: Block<'_, S>,
    d_out: &[S; LANES],
    h: &mut [f32; LANES],
    saved: &mut Saved,
    d_proj: &mut [S; LANES],
    d_x: &mut [S; LANES],
) {
    let Block { hidden, gate, proj, x, keep } = block;
    for i in 0..LANES {
        let gates = cell::gates(hidden[i].load(), gate[i].load());
        let carried = keep * h[i];
        h[i] = cell::state(&gates, carried);
        let highway = cell::highway(proj[i].load());
        let f = cell::factors(&gates, carried, h[i], &highway, x[i].load(), d_out[i].load());
        saved.direct[i] = f.direct;
        saved.gate[i] = f.gate;
        saved.hidden[i] = f.hidden;
        saved.decay[i] = gates.zc * keep;
        d_proj[i] = S::store(f.d_proj);
        d_x[i] = S::store(f.d_x);
    }
}

/// The second sweep, over one step: replays the carry.
#[inline(always)]
fn replay_row<S: Storage>(saved: &[Saved], carry: &mut [f32], d_hidden: &mut [S], d_gate: &mut [S], next: isize) {
    let n = d_gate.len();
    let whole = n - n % LANES;
    for (j, saved) in (0..whole).step_by(LANES).zip(saved) {
        let (d_hidden, d_gate) = (lanes::block_mut(d_hidden, j), lanes::block_mut(d_gate, j));
        prefetch(d_hidden.as_ptr(), 3 * next);
        prefetch(d_gate.as_ptr(), 3 * next);
        replay_block(saved, lanes::block_mut(carry, j), d_hidden, d_gate);
    }
    if whole < n {
        let (mut p, mut q) = ([S::default(); LANES], [S::default(); LANES]);
        replay_block(&saved[whole / LANES], lanes::block_mut(carry, whole), &mut p, &mut q);
        lanes::store_tail(d_hidden, whole, &p);
        lanes::store_tail(d_gate, whole, &q);
    }
}

#[inline(always)]
fn replay_block<S: Storage>(
    saved: &Saved,
    carry: &mut [f32; LANES],
    d_hidden: &mut [S; LANES],
    d_gate: &mut [S; LANES],
) {
    for i in 0..LANES {
        let dh = cell::state_gradient(carry[i], saved.direct[i]);
        d_hidden[i] = S::store(dh * saved.hidden[i]);
        d_gate[i] = S::store(dh * saved.gate[i]);
        carry[i] = cell::gradient_carry(saved.decay[i], dh);
    }
}
