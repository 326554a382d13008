//! What launches counted, for those who ask for it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Mutex;

use cuda_emu::{Counters, Grid};

use super::lock;
use super::settings::Tell;

/// Counters of each kernel since they were last told, with the number of launches.
#[derive(Debug, Default)]
pub(crate) struct Report {
    kernels: Mutex<BTreeMap<String, (u64, Counters)>>,
}

impl Report {
    /// Takes note of a launch, or tells of it at once.
    pub(crate) fn launched(&self, tell: Tell, kernel: &str, grid: &Grid, counters: &Counters) {
        match tell {
            Tell::Nothing => {}
            Tell::Launches => {
                let Grid { blocks, threads, shared_bytes } = grid;
                eprintln!(
                    "cuda-emu: `{kernel}`, blocks {blocks:?}, threads {threads:?}, {shared_bytes} bytes\n{counters}"
                );
            }
            Tell::Kernels => {
                let mut kernels = lock(&self.kernels);
                let (launches, sum) = kernels.entry(kernel.to_owned()).or_default();
                *launches += 1;
                sum.join(counters);
            }
        }
    }

    /// Tells of all kernels that have run since the last call.
    pub(crate) fn tell(&self) {
        let mut text = String::new();
        for (kernel, (launches, counters)) in std::mem::take(&mut *lock(&self.kernels)) {
            let _ = writeln!(text, "cuda-emu: `{kernel}`, {launches} launches\n{counters}");
        }
        eprint!("{text}");
    }
}
