//! Matrices, and products by crate linalg and by kernels.

use arith::random::Stream;
use cuda_emu::Counters;
use kernels_tests::{Arg, Bench, Buffer};
use linalg::{MatMut, MatRef, Par, Scratch};

/// What stands between the rows, where nobody may write.
pub const BETWEEN: f32 = -12_345.678;

/// (rows, cols), rows `cols + gap` apart.
pub struct Matrix {
    pub rows: usize,
    pub cols: usize,
    pub gap: usize,
    pub data: Vec<f32>,
}

impl Matrix {
    /// Values of many magnitudes, with signed zeros, subnormals, products that underflow to zeros of both signs, and, where
    /// asked for, rare infinities and NaNs.
    pub fn new(rows: usize, cols: usize, gap: usize, stream: u64, rare: bool) -> Self {
        let stream = Stream::new(5, stream);
        let value = |i: usize| {
            let [bits, kind, ..] = stream.block(i as u64);
            let unit = arith::random::uniform(bits) - 0.5;
            match kind % 64 {
                0 => 0.0,
                1 => -0.0,
                2 | 3 => f32::from_bits(bits & 0x807f_ffff),
                4 => unit * 100.0,
                5..8 => unit * 1e-25,
                8 if rare && kind % 4096 < 1024 => [f32::INFINITY, f32::NEG_INFINITY, f32::NAN][bits as usize % 3],
                _ => unit,
            }
        };
        let stride = cols + gap;
        let data = (0..rows * stride).map(|i| if i % stride < cols { value(i) } else { BETWEEN }).collect();
        Self { rows, cols, gap, data }
    }

    pub fn blank(rows: usize, cols: usize, gap: usize) -> Self {
        Self { rows, cols, gap, data: vec![BETWEEN; rows * (cols + gap)] }
    }

    pub fn view(&self) -> MatRef<'_> {
        MatRef::with_stride(&self.data, self.rows, self.cols, self.stride()).unwrap()
    }

    pub fn stride(&self) -> usize {
        self.cols + self.gap
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Form {
    Nn,
    Nt,
    Tn,
}

pub const FORMS: [Form; 3] = [Form::Nn, Form::Nt, Form::Tn];

impl Form {
    pub fn kernel(self) -> &'static str {
        match self {
            Self::Nn => "gemm_nn_f32",
            Self::Nt => "gemm_nt_f32",
            Self::Tn => "gemm_tn_f32",
        }
    }

    pub fn operands(self, [m, n, k]: [usize; 3], gap: usize, rare: bool) -> (Matrix, Matrix) {
        let (a, b) = match self {
            Self::Nn => ((m, k), (k, n)),
            Self::Nt => ((m, k), (n, k)),
            Self::Tn => ((k, m), (k, n)),
        };
        (Matrix::new(a.0, a.1, gap, 1, rare), Matrix::new(b.0, b.1, gap, 2, rare))
    }

    pub fn on_cpu(self, a: &Matrix, b: &Matrix, c: &mut Matrix) {
        let (rows, cols, stride) = (c.rows, c.cols, c.stride());
        let c = MatMut::with_stride(&mut c.data, rows, cols, stride).unwrap();
        let gemm = match self {
            Self::Nn => linalg::gemm_nn,
            Self::Nt => linalg::gemm_nt,
            Self::Tn => linalg::gemm_tn,
        };
        gemm(a.view(), b.view(), c, Par::Serial, &mut Scratch::new()).unwrap();
    }
}

/// Joins parts (count, rows, cols) as the modules' texts say.
pub fn join(options: &cuda_emu::Options, parts: &[f32], count: usize, mut out: Matrix) -> Matrix {
    let mut bench = Bench::new("sum");
    bench.options = options.clone();
    let (from, to) = (bench.buffer(parts), bench.buffer(&out.data));
    let sizes = [count, out.rows, out.cols, out.stride()].map(|size| Arg::U32(size as u32));
    bench.run("join_parts_f32", out.rows * out.cols, 256, &[&[(&from).into(), (&to).into()], &sizes[..]].concat());
    out.data = bench.read(&to);
    out
}

/// The kernel's result, joined if it is in parts, and what the product itself cost.
pub fn on_device(
    bench: &Bench,
    form: Form,
    [m, n, k]: [usize; 3],
    (a, b): (&Matrix, &Matrix),
    gap: usize,
) -> (Matrix, Counters) {
    let chunks = k.div_ceil(1024).max(1);
    let blocks = m.div_ceil(128) * n.div_ceil(64) * chunks;
    let mut c = Matrix::blank(m, n, gap);
    let (device_a, device_b) = (bench.buffer(&a.data), bench.buffer(&b.data));
    let run = |c: &Buffer<f32>, c_stride: usize| {
        let sizes = [m, n, k, a.stride(), b.stride(), c_stride].map(|size| Arg::U32(size as u32));
        let args = [&[(&device_a).into(), (&device_b).into(), c.into()], &sizes[..]].concat();
        let counters = bench.run(form.kernel(), blocks * 128, 128, &args);
        (bench.read(c), counters)
    };
    if chunks > 1 {
        let (parts, counters) = run(&bench.room::<f32>(chunks * m * n), n);
        return (join(&bench.options, &parts, chunks, c), counters);
    }
    let (data, counters) = run(&bench.buffer(&c.data), c.stride());
    c.data = data;
    (c, counters)
}
