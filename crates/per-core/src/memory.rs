//! Memory for what is read all over: large pages where the system has them.
//!
//! A draw touches a few lines anywhere in tens of megabytes; with pages of 4 KiB most of them miss the translation buffers
//! too. On Linux with transparent large pages on request (`madvise`, the usual setting) this asks for them: draws from a
//! replay of 2^20 items take three quarters of the time (one thread, AMD EPYC; `cargo bench --bench replay`).

/// Smaller allocations stay as they are, in bytes: two large pages of x86-64.
const LEAST: usize = 4 << 20;

/// `vec![value; n]`, on large pages if it is large.
pub(crate) fn filled<T: Clone>(value: T, n: usize) -> Vec<T> {
    let mut vec = Vec::with_capacity(n);
    // Before the pages are touched.
    advise(vec.spare_capacity_mut());
    vec.resize(n, value);
    vec
}

/// An empty vector with room for `n`, if there is memory for them; otherwise without.
pub(crate) fn reserved<T>(n: usize) -> Vec<T> {
    let mut vec = Vec::new();
    // Only a hint: what has no room now allocates when it is needed.
    let _ = vec.try_reserve_exact(n);
    vec
}

/// Asks for large pages for memory that wasn't touched yet.
pub(crate) fn advise<T>(memory: &mut [T]) {
    let bytes = size_of_val(memory);
    if bytes < LEAST {
        return;
    }
    #[cfg(target_os = "linux")]
    {
        /// The call needs whole pages, whatever their size is here: 64 KiB is the largest.
        const PAGE: usize = 1 << 16;
        let start = memory.as_mut_ptr().cast::<u8>();
        let skipped = start.addr().next_multiple_of(PAGE) - start.addr();
        let whole = (bytes - skipped) / PAGE * PAGE;
        // SAFETY: 1. the range lies in `memory`, which is borrowed as a whole: `skipped` is below 2^16, `bytes` is not.
        // 2. This advice changes neither contents nor mapping, only by which pages they are backed. 3. Its failure (an
        // old kernel, pages switched off) has no effect either.
        unsafe { libc::madvise(start.add(skipped).cast(), whole, libc::MADV_HUGEPAGE) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_are_those_of_a_plain_vector() {
        for n in [0, 1, 1000, LEAST / 4 - 1, LEAST / 4, LEAST / 4 + 12_345] {
            assert!(filled(7_u32, n) == vec![7; n], "{n}");
        }
        #[derive(Clone, PartialEq)]
        #[repr(align(128))]
        struct Wide([u64; 16]);
        assert!(filled(Wide([3; 16]), 40_000) == vec![Wide([3; 16]); 40_000]);
    }

    #[test]
    fn what_was_written_survives_the_advice_with_any_beginning() {
        let mut bytes: Vec<u8> = (0..LEAST + (1 << 18)).map(|i| (i % 251) as u8).collect();
        for start in [0, 1, 63, 4095, 4096, 65_535, 65_536] {
            advise(&mut bytes[start..]);
        }
        assert!(bytes.iter().enumerate().all(|(i, &b)| b == (i % 251) as u8));
    }
}
