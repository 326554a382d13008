//! The minGRU scan. The formulas of a step and the formats of sequences are the source of crate `mingru`.

mod forward;
mod reference;
mod tiled;

#[path = "../../crates/mingru/src/storage.rs"]
mod storage;

use crate::device::thread::index_1d;

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
