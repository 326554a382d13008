//! The policy's layers, for the environments of a block.

use super::{Group, ROWS, Rows, THREADS, activation};
use crate::cell;
use crate::device::shared::SharedArray;
use crate::device::thread::{sync_threads, thread_idx_x};
use crate::device::trap;
use arith::fma;

/// A policy, in the order of the kernels' parameters.
#[derive(Clone, Copy)]
pub(super) struct Policy {
    pub(super) observations: *const f32,
    pub(super) keep: *const f32,
    pub(super) packed: *const f32,
    pub(super) widths: *const u32,
    pub(super) sizes: Sizes,
}

/// Numbers of a policy, in the order of the kernels' parameters.
#[derive(Clone, Copy)]
pub(super) struct Sizes {
    /// D.
    pub(super) inputs: u32,
    /// H.
    pub(super) hidden: u32,
    /// Layers of the encoder, and of the minGRU stack.
    pub(super) encoder: u32,
    pub(super) layers: u32,
    /// Elements of `packed`.
    pub(super) parameters: u32,
    /// Of the decoder: logits, then the value.
    pub(super) outputs: u32,
}

/// The numbers 0 to n, one after the other, shared by the threads of the block.
macro_rules! shared_by_threads {
    ($i:ident < $n:expr; $body:block) => {
        let mut $i = thread_idx_x();
        while $i < $n {
            $body
            $i += THREADS;
        }
    };
}

/// An array with an expression for each row.
macro_rules! for_each_row {
    (|$row:ident| $value:expr) => {
        unrolled!([0 1 2 3 4 5 6 7] |$row| $value)
    };
}

/// The chains of `G` outputs over `inputs` inputs, for `R` rows from `x` on: step k of chain g takes element k of the row
/// and `weights[k * stride + columns[g]]`.
///
/// # Safety
/// There are these weights, and the rows aren't written before the next barrier.
#[inline(always)]
#[allow(clippy::needless_range_loop, reason = "all loops go through the same small numbers, whatever they index")]
unsafe fn chains<const G: usize, const R: usize>(
    x: SharedArray<f32>,
    width: u32,
    weights: *const f32,
    stride: u32,
    columns: [u32; G],
    inputs: u32,
) -> [[f32; R]; G] {
    let mut sums = [[0.0; R]; G];
    let columns = columns.map(|column| weights.wrapping_add(column as usize));
    let mut k = 0;
    while k + 4 <= inputs {
        let mut w = [[0.0; 4]; G];
        for i in 0..4 {
            let row = (k as usize + i) * stride as usize;
            for g in 0..G {
                // SAFETY: the caller's.
                w[g][i] = unsafe { *columns[g].wrapping_add(row) };
            }
        }
        for r in 0..R {
            // SAFETY: the caller's; rows begin at multiples of 4.
            let x = unsafe { x.read4(r as u32 * width + k) };
            for i in 0..4 {
                for g in 0..G {
                    sums[g][r] = fma(x[i], w[g][i], sums[g][r]);
                }
            }
        }
        k += 4;
    }
    while k < inputs {
        let row = k as usize * stride as usize;
        // SAFETY: the caller's.
        let w = columns.map(|column| unsafe { *column.wrapping_add(row) });
        for r in 0..R {
            // SAFETY: the caller's.
            let x = unsafe { x.read(r as u32 * width + k) };
            for g in 0..G {
                sums[g][r] = fma(x, w[g], sums[g][r]);
            }
        }
        k += 1;
    }
    sums
}

impl Policy {
    /// The buffer of the output.
    #[inline(always)]
    pub(super) fn last_buffer(self) -> u32 {
        (self.sizes.encoder + self.sizes.layers + 1) % 2
    }

    /// Takes the group through all layers; the result is (ROWS, outputs), and all threads see it. `record` gets environment
    /// and number of each element of an observation, and what it is; `load` and `store` access (L, N, H) of the states.
    ///
    /// # Safety
    /// As the kernels. All threads of the block come here.
    #[inline(always)]
    pub(super) unsafe fn run(
        self,
        group: Group,
        width: u32,
        record: impl Fn(u32, u32, f32),
        load: impl Fn(usize) -> f32,
        store: impl Fn(usize, f32),
    ) -> Rows {
        let Sizes { mut inputs, hidden, encoder, layers, parameters, outputs } = self.sizes;
        let (mut weights, mut buffer) = (self.packed, 0);
        // SAFETY: the caller's.
        unsafe { self.observe(group, Rows::new(0, width), inputs, record) };
        sync_threads();
        for layer in 0..encoder {
            // SAFETY: (encoder).
            let outputs = unsafe { *self.widths.add(layer as usize) };
            let (x, y) = (Rows::new(buffer, width), Rows::new(1 - buffer, width));
            // SAFETY: the packed parameters have this layer here.
            weights = unsafe { encode(x, y, weights, inputs, outputs) };
            (inputs, buffer) = (outputs, 1 - buffer);
            sync_threads();
        }
        for layer in 0..layers {
            let (x, y) = (Rows::new(buffer, width), Rows::new(1 - buffer, width));
            let states = layer as usize * group.environments as usize * hidden as usize;
            // SAFETY: as above.
            unsafe { self.recur(group, x, y, weights, hidden, |at| load(states + at), |at, h| store(states + at, h)) };
            weights = weights.wrapping_add(3 * hidden as usize * hidden as usize);
            buffer = 1 - buffer;
            sync_threads();
        }
        // What the host says of the parameters must be what the layers come to.
        let end = weights.wrapping_add((hidden as usize + 1) * outputs as usize);
        if inputs != hidden || end != self.packed.wrapping_add(parameters as usize) {
            trap();
        }
        let (x, y) = (Rows::new(buffer, width), Rows::new(1 - buffer, width));
        // SAFETY: as above.
        unsafe { decode(x, y, weights, hidden, outputs) };
        sync_threads();
        y
    }

    /// Loads the observations. Rows without an environment are 0: they are computed, and thrown away.
    ///
    /// # Safety
    /// As the kernels.
    #[inline(always)]
    unsafe fn observe(self, group: Group, x: Rows, inputs: u32, record: impl Fn(u32, u32, f32)) {
        shared_by_threads!(index < ROWS * inputs; {
            let row = index / inputs.max(1);
            let i = index - row * inputs;
            let mut value = 0.0;
            if let Some(environment) = group.environment(row) {
                // SAFETY: (N, D).
                value = unsafe { *self.observations.add(environment as usize * inputs as usize + i as usize) };
                record(environment, i, value);
            }
            // SAFETY: this thread's element.
            unsafe { x.row(row).write(i, value) };
        });
    }

    /// A minGRU layer of the stack.
    ///
    /// # Safety
    /// As the kernels; `weights` is (H, 3H).
    #[inline(always)]
    #[allow(clippy::too_many_arguments, reason = "two layers, and how states are reached")]
    unsafe fn recur(
        self,
        group: Group,
        x: Rows,
        y: Rows,
        weights: *const f32,
        hidden: u32,
        load: impl Fn(usize) -> f32,
        store: impl Fn(usize, f32),
    ) {
        shared_by_threads!(unit < hidden; {
            let columns = [unit, hidden + unit, 2 * hidden + unit];
            // SAFETY: the caller's.
            let [v, gate, proj] =
                unsafe { chains::<3, { ROWS as usize }>(x.data, x.width, weights, 3 * hidden, columns, hidden) };
            let step = |row: u32, v: f32, gate: f32, proj: f32| {
                let mut out = 0.0;
                if let Some(environment) = group.environment(row) {
                    let at = environment as usize * hidden as usize + unit as usize;
                    // SAFETY: (N), and rows of x aren't written before the next barrier.
                    let (keep, x) = unsafe { (*self.keep.add(environment as usize), x.row(row).read(unit)) };
                    let h = cell::state(&cell::gates(v, gate), keep * load(at));
                    store(at, h);
                    out = cell::output(proj, h, x);
                }
                // SAFETY: this thread's element, of rows that aren't read before the next barrier.
                unsafe { y.row(row).write(unit, out) };
            };
            for_each_row!(|row| step(row as u32, v[row], gate[row], proj[row]));
        });
    }
}

/// A layer of the encoder; what lies behind it in the packed parameters.
///
/// # Safety
/// `weights` is (inputs, outputs), then (outputs).
#[inline(always)]
unsafe fn encode(x: Rows, y: Rows, weights: *const f32, inputs: u32, outputs: u32) -> *const f32 {
    let biases = weights.wrapping_add(inputs as usize * outputs as usize);
    shared_by_threads!(output < outputs; {
        // SAFETY: the caller's.
        let ([sums], bias) = unsafe {
            (
                chains::<1, { ROWS as usize }>(x.data, x.width, weights, outputs, [output], inputs),
                *biases.add(output as usize),
            )
        };
        // SAFETY: this thread's elements, of rows that aren't read before the next barrier.
        unsafe { for_each_row!(|row| y.row(row as u32).write(output, activation::bias_tanh(sums[row], bias))) };
    });
    biases.wrapping_add(outputs as usize)
}

/// The decoder. It has few outputs: a thread has one of one row.
///
/// # Safety
/// As [`encode`].
#[inline(always)]
unsafe fn decode(x: Rows, y: Rows, weights: *const f32, inputs: u32, outputs: u32) {
    let biases = weights.wrapping_add(inputs as usize * outputs as usize);
    shared_by_threads!(index < ROWS * outputs; {
        let row = index / outputs.max(1);
        let output = index - row * outputs;
        // SAFETY: the caller's.
        let ([[sum]], bias) = unsafe {
            (
                chains::<1, 1>(x.row(row), x.width, weights, outputs, [output], inputs),
                *biases.add(output as usize),
            )
        };
        // SAFETY: this thread's element, of rows that aren't read before the next barrier.
        unsafe { y.row(row).write(output, activation::add_bias(sum, bias)) };
    });
}
