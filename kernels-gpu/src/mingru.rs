//! The minGRU scan. The formulas of a step and the formats of sequences are the source of crate `mingru`.

mod forward;
mod reference;
mod tiled;

#[path = "../../crates/mingru/src/storage.rs"]
mod storage;

use crate::cell::{self, Gates, Highway};
use crate::device::thread::index_1d;
use storage::Storage;

pub use forward::{mingru_scan_forward_bf16, mingru_scan_forward_f32};
pub use reference::{mingru_scan_backward_reference_bf16, mingru_scan_backward_reference_f32};
pub use tiled::{mingru_scan_backward_tiled_bf16, mingru_scan_backward_tiled_f32};

/// B, T, H.
#[derive(Clone, Copy)]
struct Shape {
    batch: u32,
    time: u32,
    hidden: u32,
}

impl Shape {
    /// Row of the batch and unit of this thread, if there is work for it.
    #[inline(always)]
    fn unit(self) -> Option<(usize, usize)> {
        let (i, hidden) = (index_1d(), self.hidden as usize);
        if i >= self.batch as usize * hidden {
            return None;
        }
        // In 32 bits: there are fewer than 2^31 of them, and a 64-bit division is long.
        let row = (i as u32).checked_div(self.hidden)?;
        Some((row as usize, i - row as usize * hidden))
    }
}

/// Where the entries of a step lie.
#[derive(Clone, Copy)]
struct At {
    /// `row * T + t`.
    step: usize,
    hidden: usize,
    unit: usize,
}

impl At {
    /// In (B, T, H).
    #[inline(always)]
    fn narrow(self) -> usize {
        self.step * self.hidden + self.unit
    }

    /// In (B, T, 3H): hidden, gate, projection.
    #[inline(always)]
    fn wide(self, part: usize) -> usize {
        (self.step * 3 + part) * self.hidden + self.unit
    }
}

/// What a pass reads of a step, as it lies there: to make floats of it would wait for it. `beside` is what that pass reads besides;
/// it is a field, since four short elements alone would be packed into one register, which waits for them too.
#[derive(Clone, Copy)]
struct Inputs<S, E> {
    hidden: S,
    gate: S,
    proj: S,
    x: S,
    beside: E,
}

impl<S: Storage, E> Inputs<S, E> {
    /// # Safety
    /// `combined` is (B, T, 3H), `x` (B, T, H), and the step is one of theirs.
    #[inline(always)]
    unsafe fn load(combined: *const S, x: *const S, at: At, beside: E) -> Self {
        // SAFETY: the caller's.
        unsafe {
            Self {
                hidden: *combined.add(at.wide(0)),
                gate: *combined.add(at.wide(1)),
                proj: *combined.add(at.wide(2)),
                x: *x.add(at.narrow()),
                beside,
            }
        }
    }

    #[inline(always)]
    fn gates(&self) -> Gates {
        cell::gates(self.hidden.load(), self.gate.load())
    }

    #[inline(always)]
    fn highway(&self) -> Highway {
        cell::highway(self.proj.load())
    }
}
