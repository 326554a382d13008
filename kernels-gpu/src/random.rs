//! Draws of a Philox stream: `out[i]` is element `first + i`. One thread a block of the stream, which is 4 words; the grid
//! has `n / 4 + 2` threads at least (`n / 2 + 2` for elements of two words).

use crate::device::thread::index_1d;
use arith::fixed::bounded;
use arith::random::{Stream, normal_pair, uniform, uniform_positive};

/// A block of the stream, stored by one instruction (`st.global.v4`, `.v2`).
#[repr(C, align(16))]
struct Whole<T, const PER: usize>([T; PER]);

/// Writes the elements of the thread's block that there are.
///
/// # Safety
/// `out` holds n elements.
#[inline(always)]
unsafe fn fill<T: Copy, const PER: usize>(
    (seed, stream, first): (u64, u64, u64),
    out: *mut T,
    n: u32,
    shape: impl Fn([u32; 4]) -> [T; PER],
) {
    let thread = index_1d() as u64;
    let block = first / PER as u64 + thread;
    let elements = shape(Stream::new(seed, stream).block(block));
    // The first block may begin before `first`.
    let start = thread * PER as u64;
    let skip = first % PER as u64;
    // One by one, lanes would write 16 bytes apart and touch each sector four times.
    let whole = out.wrapping_add(start.wrapping_sub(skip) as usize).cast::<Whole<T, PER>>();
    if start >= skip && start - skip + PER as u64 <= u64::from(n) && whole.is_aligned() {
        // SAFETY: aligned, all of it below n, and no other thread has these elements.
        unsafe { whole.write(Whole(elements)) };
        return;
    }
    for (k, element) in elements.into_iter().enumerate() {
        let at = start + k as u64;
        if at >= skip && at - skip < u64::from(n) {
            // SAFETY: below n, and no other thread has this element.
            unsafe { *out.add((at - skip) as usize) = element };
        }
    }
}

macro_rules! fills {
    ($($(#[$doc:meta])* $name:ident $(, $extra:ident)?: $kind:ty; $per:literal, |$block:ident| $body:expr;)*) => {$(
        $(#[$doc])*
        ///
        /// `out`: (n).
        ///
        /// # Safety
        /// The crate's conventions.
        #[unsafe(no_mangle)]
        pub unsafe extern "ptx-kernel" fn $name(
            seed: u64, stream: u64, first: u64, $($extra: u64,)? out: *mut $kind, n: u32,
        ) {
            // SAFETY: the caller's.
            unsafe { fill::<$kind, $per>((seed, stream, first), out, n, |$block| $body) }
        }
    )*};
}

/// The two 64-bit words of a block.
#[inline(always)]
fn double_words([a, b, c, d]: [u32; 4]) -> [u64; 2] {
    [u64::from(a) | u64::from(b) << 32, u64::from(c) | u64::from(d) << 32]
}

fills! {
    /// Words.
    fill_words_u32: u32; 4, |block| block;
    /// 64-bit words.
    fill_double_words_u64: u64; 2, |block| double_words(block);
    /// Uniform draws in [0, 1).
    fill_uniform_f32: f32; 4, |block| [uniform(block[0]), uniform(block[1]), uniform(block[2]), uniform(block[3])];
    /// Uniform draws in (0, 1].
    fill_uniform_positive_f32: f32; 4, |block| [
        uniform_positive(block[0]), uniform_positive(block[1]), uniform_positive(block[2]), uniform_positive(block[3]),
    ];
    /// Standard normal draws.
    fill_normal_f32: f32; 4, |block| {
        let ((a, b), (c, d)) = (normal_pair(block[0], block[1]), normal_pair(block[2], block[3]));
        [a, b, c, d]
    };
    /// Integer draws in `[0, total)`.
    fill_bounded_u64, total: u64; 2, |block| {
        let [a, b] = double_words(block);
        [bounded(a, total), bounded(b, total)]
    };
}
