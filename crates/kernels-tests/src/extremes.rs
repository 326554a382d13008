//! Trees of smallest or largest priorities on a device.

use crate::{Arg, Bench, Buffer, levels};
use cuda_emu::Counters;

/// A tree over leaves that live elsewhere.
#[derive(Debug)]
pub struct Extremes {
    /// `min` or `max`.
    pub order: &'static str,
    capacity: usize,
    /// Lowest keys, level 0 first.
    pub keys: Buffer<u32>,
    /// The lowest of all.
    pub first: Buffer<u32>,
    done: Buffer<u32>,
}

impl Extremes {
    /// Without priorities above zero.
    ///
    /// # Panics
    /// If there is no memory.
    pub fn new(bench: &Bench, order: &'static str, capacity: usize) -> Self {
        let nodes: usize = levels(capacity.div_ceil(16)).iter().map(|elements| elements.next_multiple_of(16)).sum();
        Self {
            order,
            capacity,
            keys: bench.buffer(&vec![u32::MAX; nodes]),
            first: bench.buffer(&[u32::MAX]),
            done: bench.buffer(&[0]),
        }
    }

    /// Follows the leaves at these indices.
    ///
    /// # Panics
    /// Where the emulator reports something.
    pub fn refresh(&self, bench: &Bench, leaves: &Buffer<f32>, indices: &[u32], width: u32) -> Counters {
        let at = bench.buffer(indices);
        let args = [leaves.into(), (&self.keys).into(), (&self.first).into(), (&at).into()];
        let sizes = [Arg::U32(self.capacity as u32), Arg::U32(indices.len() as u32)];
        let kernel = format!("{}_tree_refresh_f32", self.order);
        bench.run(&kernel, 16 * indices.len(), width, &[&args[..], &sizes].concat())
    }

    /// Follows all leaves.
    ///
    /// # Panics
    /// Where the emulator reports something.
    pub fn rebuild(&self, bench: &Bench, leaves: &Buffer<f32>) -> Counters {
        let args = [leaves.into(), (&self.keys).into(), (&self.first).into(), (&self.done).into()];
        let kernel = format!("{}_tree_rebuild_f32", self.order);
        let args = [&args[..], &[Arg::U32(self.capacity as u32)]].concat();
        bench.run(&kernel, 256 * self.capacity.div_ceil(4096), 256, &args)
    }

    /// Keys as they are defined: the smaller wins, `u32::MAX` is none.
    pub fn key(&self, priority: f32) -> u32 {
        match self.order {
            _ if !priority.is_finite() || priority <= 0.0 => u32::MAX,
            "min" => priority.to_bits() - 1,
            _ => !priority.to_bits(),
        }
    }

    /// That every key is the lowest below it.
    ///
    /// # Panics
    /// Where it isn't.
    pub fn check(&self, bench: &Bench, leaves: &[f32]) {
        let mut below: Vec<u32> = leaves.iter().map(|&leaf| self.key(leaf)).collect();
        let keys = bench.read(&self.keys);
        let mut start = 0;
        for elements in levels(leaves.len().div_ceil(16)) {
            below = below.chunks(16).map(|keys| *keys.iter().min().unwrap()).collect();
            let level = &keys[start..start + elements.next_multiple_of(16)];
            assert_eq!(level[..elements], below, "{}", self.order);
            assert!(level[elements..].iter().all(|&key| key == u32::MAX));
            start += level.len();
        }
        assert_eq!(start, keys.len());
        assert_eq!(bench.read(&self.first), [*below.iter().min().unwrap()], "{}", self.order);
    }
}
