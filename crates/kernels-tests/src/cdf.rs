//! A CDF on a device.

use crate::{Arg, Bench, Buffer, levels};
use bytemuck::{Pod, Zeroable};
use cuda_emu::Counters;

/// `kernels_gpu::cdf::Head`.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct CdfHead {
    /// Sum of all weights.
    pub total: u64,
    /// The largest weight.
    pub largest: f32,
    /// Whether the CDF is built.
    pub ready: u32,
    /// Scratch.
    pub running: u32,
    /// Scratch.
    pub done: u32,
    /// Scratch.
    pub taken: u32,
    /// Number of weights that the CDF is of.
    pub n: u32,
}

/// The CDF, and what its kernels need.
#[derive(Debug)]
pub struct DeviceCdf {
    /// Module `cdf`, perhaps with `resample`.
    pub bench: Bench,
    /// The weights.
    pub weights: Buffer<f32>,
    /// Number of weights.
    pub n: usize,
    /// Sums before blocks, level 0 first.
    pub nodes: Buffer<u64>,
    /// The rest of the CDF.
    pub head: Buffer<CdfHead>,
    /// Scratch of a build.
    pub tiles: Buffer<u64>,
    /// What was wrong.
    pub status: Buffer<u64>,
    /// Of the stream of draws: next block, blocks of threads.
    pub position: Buffer<u64>,
    /// Scratch of residual resampling: tiles and words.
    pub scratch: (Buffer<u64>, Buffer<u32>),
}

impl DeviceCdf {
    /// Memory for a CDF of these weights.
    ///
    /// # Panics
    /// If there is none.
    pub fn new(bench: Bench, weights: &[f32]) -> Self {
        let n = weights.len();
        let nodes: usize = levels(n.div_ceil(16)).iter().map(|elements| elements.next_multiple_of(16)).sum();
        Self {
            weights: bench.buffer(weights),
            n,
            nodes: bench.room(nodes),
            head: bench.buffer(&[CdfHead::zeroed()]),
            tiles: bench.room(2 * n.div_ceil(4096)),
            status: bench.buffer(&[0]),
            position: bench.buffer(&[0; 2]),
            scratch: (bench.buffer(&vec![0; 2 * n.div_ceil(4096)]), bench.buffer(&[0; 2])),
            bench,
        }
    }

    /// Number of weights.
    pub fn size(&self) -> Arg {
        Arg::U32(self.n as u32)
    }

    /// The head.
    pub fn head(&self) -> CdfHead {
        self.bench.read(&self.head)[0]
    }

    /// Builds; what the two launches did.
    ///
    /// # Panics
    /// Where the emulator reports something.
    pub fn build(&self) -> [Counters; 2] {
        let [weights, head, tiles] = [(&self.weights).into(), (&self.head).into(), (&self.tiles).into()];
        let threads = 256 * self.n.div_ceil(4096);
        let survey = [weights, head, tiles, (&self.status).into(), self.size()];
        let survey = self.bench.run("cdf_survey_f32", threads, 256, &survey);
        let build = [weights, (&self.nodes).into(), head, tiles, self.size()];
        [survey, self.bench.run("cdf_build_f32", threads, 256, &build)]
    }

    /// What all that reads a CDF takes first.
    pub fn args(&self) -> [Arg; 3] {
        [(&self.weights).into(), (&self.nodes).into(), (&self.head).into()]
    }

    /// Items of thresholds.
    ///
    /// # Panics
    /// Where the emulator reports something.
    pub fn search(&self, thresholds: &[u64]) -> Vec<u32> {
        let m = thresholds.len();
        let (at, out) = (self.bench.buffer(thresholds), self.bench.room::<u32>(m));
        let rest = [(&at).into(), (&out).into(), (&self.status).into(), self.size(), Arg::U32(m as u32)];
        self.bench.run("cdf_search_f32", 16 * m, 64, &[&self.args()[..], &rest].concat());
        self.bench.read(&out)
    }

    /// Residual resampling with independent remainders, in three launches.
    ///
    /// # Panics
    /// Where the emulator reports something.
    pub fn draw_remainders(&self, m: usize, words: Option<&[u64]>, (seed, stream): (u64, u64)) -> Vec<u32> {
        let (counts, strata) = (self.bench.room::<u32>(self.n), self.bench.room::<u32>(self.n));
        let (rests, remaining) = (self.bench.room::<u64>(self.n), self.bench.room::<u32>(1));
        let out = self.bench.room::<u32>(m);
        let words = words.map(|words| self.bench.buffer(words));
        let words = words.as_ref().map_or(Arg::U64(0), Arg::from);
        let scratch = [(&self.scratch.0).into(), (&self.scratch.1).into()];
        let [n, draws] = [self.size(), Arg::U32(m as u32)];
        let places = [(&strata).into(), (&rests).into(), (&remaining).into()];
        let threads = 256 * self.n.div_ceil(4096);
        let args = [&self.args()[..], &scratch, &[(&counts).into()], &places, &[n, draws]].concat();
        self.bench.run("resample_remainders_f32", threads, 256, &args);
        let first = [(&self.head).into(), (&self.position).into(), words];
        let last = [(&counts).into(), n, draws, Arg::U64(seed), Arg::U64(stream)];
        self.bench.run("resample_draw_remainders_f32", m, 128, &[&first[..], &places, &last].concat());
        let args = [&[(&counts).into()][..], &scratch, &[(&out).into(), n, draws]].concat();
        self.bench.run("resample_expand_u32", threads, 256, &args);
        self.bench.read(&out)
    }

    /// Draws by `kernel`, with these words or those of a stream.
    ///
    /// # Panics
    /// Where the emulator reports something.
    pub fn draw(&self, kernel: &str, m: usize, words: Option<&[u64]>, (seed, stream): (u64, u64)) -> Vec<u32> {
        if kernel == "resample_remainders_f32" {
            return self.draw_remainders(m, words, (seed, stream));
        }
        let out = self.bench.room::<u32>(m);
        let words = words.map(|words| self.bench.buffer(words));
        let mut args = self.args().to_vec();
        args.extend([(&self.position).into(), words.as_ref().map_or(Arg::U64(0), Arg::from)]);
        // Half a warp a draw, or a block for 4,096 items.
        let (mut threads, mut width) = (16 * m, 128);
        if kernel.contains("residual") {
            (threads, width) = (256 * self.n.div_ceil(4096), 256);
            args.extend([Arg::from(&self.scratch.0), (&self.scratch.1).into()]);
        }
        args.extend([(&out).into(), self.size(), Arg::U32(m as u32), Arg::U64(seed), Arg::U64(stream)]);
        self.bench.run(kernel, threads, width, &args);
        self.bench.read(&out)
    }
}
