//! Cases of the scan, and its operations by the crate for the CPU and by kernels.

use arith::random::Stream;
use bytemuck::Pod;
use cuda_emu::Counters;
use kernels_tests::{Arg, Bench, assert_bits};
use mingru::{Backward, Forward, Gradients, Outputs, Par, Shape, Storage, bf16, checkpoints_len};

/// A format of sequences, and the end of its kernels' names.
pub trait Format: Storage + Pod {
    const SUFFIX: &'static str;
}

impl Format for f32 {
    const SUFFIX: &'static str = "f32";
}

impl Format for bf16 {
    const SUFFIX: &'static str = "bf16";
}

/// Normal draws of standard deviation 2.
pub fn normals<S: Storage>(stream: u64, n: usize) -> Vec<S> {
    let mut values = vec![0.0; n];
    Stream::new(11, stream).fill_normal(0, &mut values);
    values.into_iter().map(|value| S::store(2.0 * value)).collect()
}

fn floats<S: Storage>(values: &[S]) -> Vec<f32> {
    values.iter().map(|value| value.load()).collect()
}

/// Operands of both passes.
#[derive(Clone, Debug)]
pub struct Case<S> {
    pub shape: Shape,
    pub combined: Vec<S>,
    pub x: Vec<S>,
    pub keep: Vec<f32>,
    pub h0: Vec<f32>,
    pub d_out: Vec<S>,
    pub d_h_last: Vec<f32>,
}

/// Results of the forward scan.
pub struct Forwarded<S> {
    pub out: Vec<S>,
    pub checkpoints: Vec<f32>,
    pub h_last: Vec<f32>,
}

/// Results of the backward scan.
pub struct Differentiated<S> {
    pub d_combined: Vec<S>,
    pub d_x: Vec<S>,
    pub d_h0: Vec<f32>,
}

impl<S: Storage> Forwarded<S> {
    pub fn assert_is(&self, expected: &Self, what: &str) {
        assert_bits(&format!("{what}: out"), &floats(&self.out), &floats(&expected.out));
        assert_bits(&format!("{what}: checkpoints"), &self.checkpoints, &expected.checkpoints);
        assert_bits(&format!("{what}: h_last"), &self.h_last, &expected.h_last);
    }
}

impl<S: Storage> Differentiated<S> {
    pub fn assert_is(&self, expected: &Self, what: &str) {
        assert_bits(&format!("{what}: d_combined"), &floats(&self.d_combined), &floats(&expected.d_combined));
        assert_bits(&format!("{what}: d_x"), &floats(&self.d_x), &floats(&expected.d_x));
        assert_bits(&format!("{what}: d_h0"), &self.d_h0, &expected.d_h0);
    }
}

impl<S: Format> Case<S> {
    /// A case whose every operand differs from the others, with resets at the first step, in a row, and elsewhere.
    pub fn new(batch: usize, time: usize, hidden: usize) -> Self {
        let (n, units) = (batch * time * hidden, batch * hidden);
        Self {
            shape: Shape { batch, time, hidden },
            combined: normals(0, 3 * n),
            x: normals(1, n),
            keep: (0..batch * time).map(|i| if i % 5 < 2 && i % 3 != 1 { 0.0 } else { 1.0 }).collect(),
            h0: normals(3, units),
            d_out: normals(2, n),
            d_h_last: normals(4, units),
        }
    }

    /// The forward scan on the CPU.
    pub fn forward(&self, interval: usize) -> Forwarded<S> {
        let (shape, n) = (self.shape, self.x.len());
        let mut results = Forwarded {
            out: vec![S::default(); n],
            checkpoints: vec![0.0; checkpoints_len(shape, interval).unwrap()],
            h_last: vec![0.0; self.h0.len()],
        };
        let Self { combined, x, keep, h0, .. } = self;
        let outputs =
            Outputs { out: &mut results.out, checkpoints: &mut results.checkpoints, h_last: &mut results.h_last };
        mingru::forward(&Forward { shape, interval, combined, x, keep, h0 }, outputs, Par::Serial).unwrap();
        results
    }

    /// The backward scan on the CPU.
    pub fn backward(&self) -> Differentiated<S> {
        let checkpoints = &self.forward(1).checkpoints;
        let mut results = Differentiated {
            d_combined: vec![S::default(); self.combined.len()],
            d_x: vec![S::default(); self.x.len()],
            d_h0: vec![0.0; self.h0.len()],
        };
        let Self { shape, combined, x, keep, d_out, d_h_last, .. } = self;
        let input = Backward { shape: *shape, interval: 1, combined, x, keep, checkpoints, d_out, d_h_last };
        let gradients =
            Gradients { d_combined: &mut results.d_combined, d_x: &mut results.d_x, d_h0: &mut results.d_h0 };
        mingru::backward(&input, gradients, Par::Serial).unwrap();
        results
    }

    fn sizes(&self) -> [Arg; 3] {
        let Shape { batch, time, hidden } = self.shape;
        [batch, time, hidden].map(|size| Arg::U32(size as u32))
    }

    /// The forward scan's kernel.
    pub fn run_forward(&self, bench: &Bench, interval: usize) -> (Forwarded<S>, Counters) {
        let (combined, x) = (bench.buffer(&self.combined), bench.buffer(&self.x));
        let (keep, h0) = (bench.buffer(&self.keep), bench.buffer(&self.h0));
        let out = bench.room::<S>(self.x.len());
        let checkpoints = bench.room::<f32>(checkpoints_len(self.shape, interval).unwrap());
        let h_last = bench.room::<f32>(self.h0.len());
        let mut args: Vec<Arg> = vec![(&combined).into(), (&x).into(), (&keep).into(), (&h0).into()];
        args.extend([Arg::from(&out), (&checkpoints).into(), (&h_last).into()]);
        args.extend(self.sizes());
        args.push(Arg::U32(interval as u32));
        let counters = bench.run(&format!("mingru_scan_forward_{}", S::SUFFIX), self.h0.len(), 64, &args);
        let results =
            Forwarded { out: bench.read(&out), checkpoints: bench.read(&checkpoints), h_last: bench.read(&h_last) };
        (results, counters)
    }

    /// A backward kernel, from the states that entered chunks of `interval` steps.
    fn run_backward(
        &self,
        bench: &Bench,
        kernel: &str,
        interval: usize,
        (threads, width): (usize, u32),
        more: &[Arg],
    ) -> (Differentiated<S>, Counters) {
        let (combined, x, d_out) = (bench.buffer(&self.combined), bench.buffer(&self.x), bench.buffer(&self.d_out));
        let (keep, d_h_last) = (bench.buffer(&self.keep), bench.buffer(&self.d_h_last));
        let states = bench.buffer(&self.forward(interval).checkpoints);
        let (d_combined, d_x) = (bench.room::<S>(self.combined.len()), bench.room::<S>(self.x.len()));
        let d_h0 = bench.room::<f32>(self.h0.len());
        let mut args: Vec<Arg> = vec![(&combined).into(), (&x).into(), (&keep).into(), (&states).into()];
        args.extend([Arg::from(&d_out), (&d_h_last).into(), (&d_combined).into(), (&d_x).into(), (&d_h0).into()]);
        args.extend(self.sizes());
        args.extend(more);
        let counters = bench.run(&format!("{kernel}_{}", S::SUFFIX), threads, width, &args);
        let results =
            Differentiated { d_combined: bench.read(&d_combined), d_x: bench.read(&d_x), d_h0: bench.read(&d_h0) };
        (results, counters)
    }

    /// The backward scan's kernel that goes step by step.
    pub fn run_reference(&self, bench: &Bench) -> (Differentiated<S>, Counters) {
        self.run_backward(bench, "mingru_scan_backward_reference", 1, (self.h0.len(), 64), &[])
    }

    /// The backward scan's kernel that goes by tiles, with so many warps a block.
    pub fn run_tiled(&self, bench: &Bench, interval: usize, warps: u32) -> (Differentiated<S>, Counters) {
        let (width, interval_arg) = (32 * warps, Arg::U32(interval as u32));
        let threads = self.shape.batch * self.shape.hidden.div_ceil(32) * width as usize;
        self.run_backward(bench, "mingru_scan_backward_tiled", interval, (threads, width), &[interval_arg])
    }
}
