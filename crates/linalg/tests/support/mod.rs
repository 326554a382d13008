//! Matrices and comparisons that the tests share.
#![allow(dead_code, reason = "each test file uses its own share")]

pub(crate) mod oracle;

use arith::simd::Isa;
use linalg::MatRef;

/// Every instruction set; those that the machine lacks fall back to the best one below.
pub(crate) const ISAS: [Isa; 3] = [Isa::Scalar, Isa::Avx2, Isa::Avx512];

/// A dense row-major matrix.
#[derive(Clone, Debug)]
pub(crate) struct Matrix {
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    pub(crate) values: Vec<f32>,
}

/// What stands where nobody may write, or where nobody has written yet.
pub(crate) const SENTINEL: f32 = -12_345.678;

fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut x = *state;
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

impl Matrix {
    /// Values of many magnitudes, with signed zeros and subnormals among them; every fourth seed adds rare infinities
    /// and NaNs.
    pub(crate) fn special(rows: usize, cols: usize, seed: u64) -> Self {
        let mut state = seed;
        let values = (0..rows * cols)
            .map(|_| {
                let bits = random(&mut state);
                let unit = (bits >> 40) as f32 / (1u64 << 24) as f32 - 0.5;
                match bits % 64 {
                    0 => 0.0,
                    1 => -0.0,
                    2 => f32::from_bits((bits >> 16) as u32 & 0x007f_ffff),
                    3 => -f32::from_bits((bits >> 16) as u32 & 0x007f_ffff),
                    4 => unit * 1e18,
                    5 => unit * 1e-18,
                    6 if seed % 4 == 3 && bits % (64 * 101) == 6 => f32::INFINITY,
                    7 if seed % 4 == 3 && bits % (64 * 103) == 7 => f32::NEG_INFINITY,
                    8 if seed % 4 == 3 && bits % (64 * 107) == 8 => f32::NAN,
                    _ => unit,
                }
            })
            .collect();
        Self { rows, cols, values }
    }

    pub(crate) fn sentinel(rows: usize, cols: usize) -> Self {
        Self { rows, cols, values: vec![SENTINEL; rows * cols] }
    }

    pub(crate) fn transpose(&self) -> Self {
        let mut values = Vec::with_capacity(self.values.len());
        for j in 0..self.cols {
            values.extend((0..self.rows).map(|i| self.values[i * self.cols + j]));
        }
        Self { rows: self.cols, cols: self.rows, values }
    }

    pub(crate) fn view(&self) -> MatRef<'_> {
        MatRef::new(&self.values, self.rows, self.cols).unwrap()
    }

    /// A vector of exactly the length that a view with `gap` elements between rows needs; gaps hold the sentinel.
    pub(crate) fn strided(&self, gap: usize) -> Box<[f32]> {
        let mut data = Vec::new();
        for i in 0..self.rows {
            if i > 0 && self.cols > 0 {
                data.extend(std::iter::repeat_n(SENTINEL, gap));
            }
            data.extend_from_slice(&self.values[i * self.cols..(i + 1) * self.cols]);
        }
        data.into_boxed_slice()
    }
}

/// The matrix without its gaps.
pub(crate) fn dense(data: &[f32], rows: usize, cols: usize, gap: usize) -> Vec<f32> {
    if cols == 0 {
        return Vec::new();
    }
    (0..rows).flat_map(|i| &data[i * (cols + gap)..i * (cols + gap) + cols]).copied().collect()
}

/// Panics if a gap was written.
pub(crate) fn assert_gaps(data: &[f32], rows: usize, cols: usize, gap: usize, what: &str) {
    for i in 1..if cols == 0 { 0 } else { rows } {
        let end = i * (cols + gap);
        for x in &data[end - gap..end] {
            assert_eq!(x.to_bits(), SENTINEL.to_bits(), "{what}: the gap before row {i} was written");
        }
    }
}

/// Panics unless all bits agree; a NaN is a NaN.
pub(crate) fn assert_same(got: &[f32], want: &[f32], cols: usize, what: &str) {
    assert_eq!(got.len(), want.len(), "{what}");
    for (i, (got, want)) in got.iter().zip(want).enumerate() {
        assert!(
            got.to_bits() == want.to_bits() || (got.is_nan() && want.is_nan()),
            "{what}: at ({}, {}) got {got:e}, want {want:e}",
            i / cols,
            i % cols
        );
    }
}

pub(crate) fn pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
}
