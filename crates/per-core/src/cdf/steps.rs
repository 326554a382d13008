//! The two steps of a search, each on sixteen integers below 2^63.

use super::layout::{BLOCK, FANOUT};

/// The steps, for one instruction set.
pub(super) trait Steps: Copy {
    /// The last of ascending `keys` that is `<= threshold`; 0 if there is none.
    fn last_at_most(self, keys: &[u64; FANOUT], threshold: u64) -> usize;

    /// How many sums `parts[0]`, `parts[0] + parts[1]`, ... are `<= threshold`.
    fn sums_at_most(self, parts: &[u64; BLOCK], threshold: u64) -> usize;
}

/// Plain code, without branches that depend on the data.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plain;

impl Steps for Plain {
    #[inline(always)]
    fn last_at_most(self, keys: &[u64; FANOUT], threshold: u64) -> usize {
        let mut last = 0;
        let mut step = FANOUT / 2;
        while step > 0 {
            last += step * usize::from(keys[(last + step) % FANOUT] <= threshold);
            step /= 2;
        }
        last
    }

    #[inline(always)]
    fn sums_at_most(self, parts: &[u64; BLOCK], threshold: u64) -> usize {
        let mut count = 0;
        let mut sum = 0;
        for part in parts {
            sum += part;
            count += usize::from(sum <= threshold);
        }
        count
    }
}

/// Brings `items[index]` (at most two cache lines) near, if there is such an item.
#[inline(always)]
pub(crate) fn prefetch<T>(items: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(item) = items.get(index) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let at: *const i8 = std::ptr::from_ref(item).cast();
        // SAFETY: every x86-64 has the instruction; it reads nothing that the program can see and never faults.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(at) };
        if size_of::<T>() > 64 {
            // SAFETY: as above.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(at.wrapping_add(64)) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (items, index);
}

#[cfg(target_arch = "x86_64")]
pub(super) use avx512::Avx512;

/// AVX-512: the compiler finds neither the comparison mask nor the scan by lane shifts in the plain code.
#[cfg(target_arch = "x86_64")]
mod avx512 {
    use super::{BLOCK, FANOUT, Steps};
    use arith::simd::Isa;
    use std::arch::x86_64::{
        __m512i, _mm512_add_epi64, _mm512_alignr_epi64, _mm512_cmple_epi64_mask, _mm512_loadu_epi64,
        _mm512_permutexvar_epi64, _mm512_set1_epi64, _mm512_setzero_si512,
    };

    /// Proof that this machine has AVX-512 (F).
    #[derive(Clone, Copy, Debug)]
    pub(in super::super) struct Avx512(());

    impl Avx512 {
        pub(in super::super) fn new() -> Option<Self> {
            (Isa::detect() >= Isa::Avx512).then_some(Self(()))
        }
    }

    impl Steps for Avx512 {
        #[inline(always)]
        fn last_at_most(self, keys: &[u64; FANOUT], threshold: u64) -> usize {
            // SAFETY: a value of `Avx512` exists only where `Isa::detect` saw AVX-512.
            unsafe { last_at_most(keys, threshold) }
        }

        #[inline(always)]
        fn sums_at_most(self, parts: &[u64; BLOCK], threshold: u64) -> usize {
            // SAFETY: as above.
            unsafe { sums_at_most(parts, threshold) }
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn last_at_most(keys: &[u64; FANOUT], threshold: u64) -> usize {
        let (low, high) = load(keys);
        // The keys ascend, so the bits that are set are the lowest.
        at_most(low, high, threshold).saturating_sub(1)
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn sums_at_most(parts: &[u64; BLOCK], threshold: u64) -> usize {
        let (low, high) = load(parts);
        let low = scan(low);
        let carry = _mm512_permutexvar_epi64(_mm512_set1_epi64(7), low);
        at_most(low, _mm512_add_epi64(scan(high), carry), threshold)
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn load(values: &[u64; 16]) -> (__m512i, __m512i) {
        let (low, high) = values.split_at(8);
        // SAFETY: each half is eight u64, 64 bytes, and the load needs no alignment.
        unsafe { (_mm512_loadu_epi64(low.as_ptr().cast()), _mm512_loadu_epi64(high.as_ptr().cast())) }
    }

    /// Number of leading lanes that are `<= threshold`. `trailing_ones` rather than `count_ones`: `Isa::run` does not
    /// enable `popcnt`.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn at_most(low: __m512i, high: __m512i, threshold: u64) -> usize {
        let t = _mm512_set1_epi64(threshold.cast_signed());
        let mask = u32::from(_mm512_cmple_epi64_mask(low, t)) | u32::from(_mm512_cmple_epi64_mask(high, t)) << 8;
        mask.trailing_ones() as usize
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
