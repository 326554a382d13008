//! The packed form of a right operand: panels of 32 columns, each holding its rows one after the other.
//!
//! The panel that starts at column `j` (a multiple of 32) starts at element `j * k`, and its row `t` is the
//! [`width`] elements from `t * width`. The last panel may be narrower; columns past `n` are +0.

use arith::simd::Isa;
use rayon::prelude::*;

/// Columns of a panel.
pub(crate) const PANEL: usize = 32;

/// Elements of a row of the panel that has `cols` columns left.
#[inline]
pub(crate) fn width(cols: usize) -> usize {
    match cols {
        ..=8 => 8,
        9..=16 => 16,
        _ => PANEL,
    }
}

/// Elements of a packed `k` x `n` operand, or `None` on overflow.
#[inline]
pub(crate) fn len(k: usize, n: usize) -> Option<usize> {
    let tail = match n % PANEL {
        0 => 0,
        cols => width(cols),
    };
    k.checked_mul((n - n % PANEL).checked_add(tail)?)
}

/// How the operand to be packed lies in memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source<'a> {
    /// `B[t, j]` is `data[t * stride + j]`, or `data[j * stride + t]` if `transposed`.
    pub(crate) data: &'a [f32],
    pub(crate) stride: usize,
    pub(crate) transposed: bool,
    pub(crate) k: usize,
    pub(crate) n: usize,
}

impl Source<'_> {
    /// Packs into `out`, which has at least [`len`] elements.
    pub(crate) fn pack(&self, isa: Isa, parallel: bool, out: &mut [f32]) {
        if self.k == 0 || self.n == 0 {
            return;
        }
        let out = &mut out[..len(self.k, self.n).unwrap_or(0)];
        if parallel {
            out.par_chunks_mut(PANEL * self.k).enumerate().for_each(|(p, out)| self.panel(isa, p * PANEL, out));
        } else {
            for (p, out) in out.chunks_mut(PANEL * self.k).enumerate() {
                self.panel(isa, p * PANEL, out);
            }
        }
    }

    fn panel(&self, isa: Isa, j: usize, out: &mut [f32]) {
        let cols = PANEL.min(self.n - j);
        let w = width(cols);
        if !self.transposed {
            for (t, out) in out.chunks_exact_mut(w).enumerate() {
                let row = &self.data[t * self.stride + j..][..cols];
                if cols == PANEL {
                    out.copy_from_slice(row);
                } else {
                    out[..cols].copy_from_slice(row);
                    out[cols..].fill(0.0);
                }
            }
            return;
        }
        // Blocks of 8 x 8 by register transposes, the rest by elements.
        let mut whole = (0, 0);
        #[cfg(target_arch = "x86_64")]
        if isa.min(Isa::detect()) >= Isa::Avx2 {
            whole = (self.k & !7, cols & !7);
            for c in (0..whole.1).step_by(8) {
                let rows = &self.data[(j + c) * self.stride..];
                assert!(7 * self.stride + self.k <= rows.len() && (self.k - 1) * w + c + 8 <= out.len());
                // SAFETY: the machine has AVX. Reads end at element 7 stride + whole.0 <= 7 stride + k of `rows`; writes
                // at (whole.0 - 1) w + c + 8 of `out`; both were compared with the lengths above.
                unsafe { transpose8(rows.as_ptr(), self.stride, whole.0, out.as_mut_ptr().add(c), w) };
            }
        }
        let _ = isa;
        for (t, out) in out.chunks_exact_mut(w).enumerate() {
            let done = if t < whole.0 { whole.1 } else { 0 };
            for (c, out) in out[..cols].iter_mut().enumerate().skip(done) {
                *out = self.data[(j + c) * self.stride + t];
            }
            out[cols..].fill(0.0);
        }
    }
}

/// `to[t * w + c] = from[c * stride + t]` for `t < k`, a multiple of 8, and `c < 8`.
///
/// # Safety
/// The machine has AVX; all these elements can be read and written.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx")]
unsafe fn transpose8(from: *const f32, stride: usize, k: usize, to: *mut f32, w: usize) {
    use core::arch::x86_64::*;
    for t in (0..k).step_by(8) {
        // SAFETY: rows 0 to 7, elements t to t + 7 < k.
        let r: [__m256; 8] = core::array::from_fn(|c| unsafe { _mm256_loadu_ps(from.add(c * stride + t)) });
        let pair = |a, b| (_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b));
        let quad = |a, b| (_mm256_shuffle_ps::<0x44>(a, b), _mm256_shuffle_ps::<0xee>(a, b));
        let (a0, a1) = pair(r[0], r[1]);
        let (a2, a3) = pair(r[2], r[3]);
        let (a4, a5) = pair(r[4], r[5]);
        let (a6, a7) = pair(r[6], r[7]);
        let (b0, b1) = quad(a0, a2);
        let (b2, b3) = quad(a1, a3);
        let (b4, b5) = quad(a4, a6);
        let (b6, b7) = quad(a5, a7);
        let low = |a, b| _mm256_permute2f128_ps::<0x20>(a, b);
        let high = |a, b| _mm256_permute2f128_ps::<0x31>(a, b);
        let out = [
            low(b0, b4),
            low(b1, b5),
            low(b2, b6),
            low(b3, b7),
            high(b0, b4),
            high(b1, b5),
            high(b2, b6),
            high(b3, b7),
        ];
        for (i, x) in out.into_iter().enumerate() {
            // SAFETY: row t + i < k of `to`, elements 0 to 7.
            unsafe { _mm256_storeu_ps(to.add((t + i) * w), x) };
        }
    }
}
