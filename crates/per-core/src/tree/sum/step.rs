//! One step down: which of sixteen children holds a threshold, and what is left of the threshold within it.

use crate::tree::layout::FANOUT;

/// The step, for one instruction set.
pub(super) trait Step: Copy {
    /// The first child whose running sum is above `threshold`, and `threshold` less the sums before it. The sums
    /// together are above `threshold` and below 2^63.
    fn step(self, sums: &[u64; FANOUT], threshold: u64) -> (usize, u64);
}

/// Plain code, without branches that depend on the data.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plain;

impl Step for Plain {
    #[inline(always)]
    fn step(self, sums: &[u64; FANOUT], threshold: u64) -> (usize, u64) {
        // First which four, then which of them: a chain of additions half as long as over all sixteen.
        let (fours, _) = sums.as_chunks::<4>();
        let (four, rest) = of_four(
            [
                (fours[0][0] + fours[0][1]) + (fours[0][2] + fours[0][3]),
                (fours[1][0] + fours[1][1]) + (fours[1][2] + fours[1][3]),
                (fours[2][0] + fours[2][1]) + (fours[2][2] + fours[2][3]),
            ],
            threshold,
        );
        let [a, b, c, _] = fours[four];
        let (child, rest) = of_four([a, b, c], rest);
        (4 * four + child, rest)
    }
}

/// The step among four, of which the last one needs no look.
#[inline(always)]
fn of_four(sums: [u64; 3], threshold: u64) -> (usize, u64) {
    let (mut child, mut before, mut running) = (0, 0, 0);
    for sum in sums {
        running += sum;
        let passed = running <= threshold;
        child += usize::from(passed);
        before = if passed { running } else { before };
    }
    (child, threshold - before)
}

#[cfg(target_arch = "x86_64")]
pub(super) use avx512::Avx512;

/// AVX-512: the compiler finds neither the comparison mask nor the running sums by lane shifts in the plain code.
#[cfg(target_arch = "x86_64")]
mod avx512 {
    use super::{FANOUT, Step};
    use arith::simd::Isa;
    use std::arch::x86_64::{
        __m512i, _mm_cvtsi128_si64, _mm512_add_epi64, _mm512_alignr_epi64, _mm512_castsi512_si128,
        _mm512_cmple_epi64_mask, _mm512_loadu_epi64, _mm512_permutex2var_epi64, _mm512_permutexvar_epi64,
        _mm512_set1_epi64, _mm512_setzero_si512,
    };

    /// Proof that this machine has AVX-512 (F).
    #[derive(Clone, Copy, Debug)]
    pub(in super::super) struct Avx512(());

    impl Avx512 {
        pub(in super::super) fn new() -> Option<Self> {
            (Isa::detect() >= Isa::Avx512).then_some(Self(()))
        }
    }

    impl Step for Avx512 {
        #[inline(always)]
        fn step(self, sums: &[u64; FANOUT], threshold: u64) -> (usize, u64) {
            // SAFETY: a value of `Avx512` exists only where `Isa::detect` saw AVX-512.
            unsafe { step(sums, threshold) }
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn step(sums: &[u64; FANOUT], threshold: u64) -> (usize, u64) {
        let (low, high) = load(sums);
        let low = scan(low);
        let carry = _mm512_permutexvar_epi64(_mm512_set1_epi64(7), low);
        let high = _mm512_add_epi64(scan(high), carry);
        let t = _mm512_set1_epi64(threshold.cast_signed());
        // Running sums ascend, so the bits that are set are the lowest. `trailing_ones` rather than `count_ones`:
        // `Isa::run` does not enable `popcnt`.
        let mask = u32::from(_mm512_cmple_epi64_mask(low, t)) | u32::from(_mm512_cmple_epi64_mask(high, t)) << 8;
        let child = mask.trailing_ones() as usize % FANOUT;
        // Running sum number child - 1; whatever it is for child 0 is not used.
        let index = _mm512_set1_epi64(i64::from(mask.trailing_ones()) - 1);
        let before = _mm_cvtsi128_si64(_mm512_castsi512_si128(_mm512_permutex2var_epi64(low, index, high)));
        let before = if child == 0 { 0 } else { before.cast_unsigned() };
        (child, threshold - before)
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn load(values: &[u64; FANOUT]) -> (__m512i, __m512i) {
        let (low, high) = values.split_at(8);
        // SAFETY: each half is eight u64, 64 bytes, and the load needs no alignment.
        unsafe { (_mm512_loadu_epi64(low.as_ptr().cast()), _mm512_loadu_epi64(high.as_ptr().cast())) }
    }

    /// Inclusive sums of eight lanes.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn scan(v: __m512i) -> __m512i {
        let zero = _mm512_setzero_si512();
        let v = _mm512_add_epi64(v, _mm512_alignr_epi64::<7>(v, zero));
        let v = _mm512_add_epi64(v, _mm512_alignr_epi64::<6>(v, zero));
        _mm512_add_epi64(v, _mm512_alignr_epi64::<4>(v, zero))
    }
}
