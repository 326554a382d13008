//! What the 32 threads of a warp do together. `mask` has a bit for each lane that takes part; all of them, and no others,
//! must come to the same call.

use super::thread::thread_idx_x;

/// Lanes of a warp.
pub const LANES: u32 = 32;
/// All lanes.
pub const ALL: u32 = u32::MAX;

/// Index of the thread in its warp, for blocks of one dimension: `and.b32 %tid.x, 31`.
#[inline(always)]
pub fn lane_id() -> u32 {
    thread_idx_x() % LANES
}

unsafe extern "C" {
    #[link_name = "llvm.nvvm.shfl.sync.idx.i32"]
    fn shfl_idx(mask: u32, value: u32, lane: u32, clamp: u32) -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.up.i32"]
    fn shfl_up(mask: u32, value: u32, delta: u32, clamp: u32) -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.down.i32"]
    fn shfl_down(mask: u32, value: u32, delta: u32, clamp: u32) -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.bfly.i32"]
    fn shfl_bfly(mask: u32, value: u32, lanes: u32, clamp: u32) -> u32;
    #[link_name = "llvm.nvvm.vote.ballot.sync"]
    fn ballot(mask: u32, vote: bool) -> u32;
    #[link_name = "llvm.nvvm.bar.warp.sync"]
    fn bar_warp_sync(mask: u32);
}

/// The lanes of a group of `width` in bits 8 to 12, and the last (for `up`: the first) lane of a group.
const fn clamp(width: u32, last: u32) -> u32 {
    ((LANES - width) << 8) | last
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for u32 {}
    impl Sealed for i32 {}
    impl Sealed for f32 {}
    impl Sealed for u64 {}
}

/// What can go from lane to lane: 32 bits with one instruction, 64 bits with two. Sealed.
pub trait Shuffle: Copy + sealed::Sealed {
    #[doc(hidden)]
    fn each(self, shuffle: impl FnMut(u32) -> u32) -> Self;
}

macro_rules! shuffles {
    ($($kind:ty: $value:ident => $to:expr, $bits:ident => $from:expr;)*) => {$(
        impl Shuffle for $kind {
            #[inline(always)]
            fn each(self, mut shuffle: impl FnMut(u32) -> u32) -> Self {
                let $value = self;
                let $bits = shuffle($to);
                $from
            }
        }
    )*};
}

shuffles! {
    u32: value => value, bits => bits;
    i32: value => value as u32, bits => bits as i32;
    f32: value => value.to_bits(), bits => f32::from_bits(bits);
}

impl Shuffle for u64 {
    #[inline(always)]
    fn each(self, mut shuffle: impl FnMut(u32) -> u32) -> Self {
        let (low, high) = (shuffle(self as u32), shuffle((self >> 32) as u32));
        u64::from(low) | u64::from(high) << 32
    }
}

/// The value of lane `lane % width` of the group: `shfl.sync.idx.b32`. `width`: lanes of a group, a power of two up to 32.
///
/// # Safety
/// As the module says of `mask`.
#[inline(always)]
pub unsafe fn warp_shuffle_idx<T: Shuffle>(mask: u32, value: T, lane: u32, width: u32) -> T {
    // SAFETY: the caller's.
    value.each(|bits| unsafe { shfl_idx(mask, bits, lane, clamp(width, 31)) })
}

/// The value of the lane `delta` below, or the own one where that is in another group: `shfl.sync.up.b32`.
///
/// # Safety
/// As the module says of `mask`.
#[inline(always)]
pub unsafe fn warp_shuffle_up<T: Shuffle>(mask: u32, value: T, delta: u32, width: u32) -> T {
    // Unlike the others it is clamped from below.
    // SAFETY: the caller's.
    value.each(|bits| unsafe { shfl_up(mask, bits, delta, clamp(width, 0)) })
}

/// The value of the lane `delta` above, or the own one where that is in another group: `shfl.sync.down.b32`.
///
/// # Safety
/// As the module says of `mask`.
#[inline(always)]
pub unsafe fn warp_shuffle_down<T: Shuffle>(mask: u32, value: T, delta: u32, width: u32) -> T {
    // SAFETY: the caller's.
    value.each(|bits| unsafe { shfl_down(mask, bits, delta, clamp(width, 31)) })
}

/// The value of the lane whose number differs in the bits of `lanes`: `shfl.sync.bfly.b32`.
///
/// # Safety
/// As the module says of `mask`.
#[inline(always)]
pub unsafe fn warp_shuffle_xor<T: Shuffle>(mask: u32, value: T, lanes: u32, width: u32) -> T {
    // SAFETY: the caller's.
    value.each(|bits| unsafe { shfl_bfly(mask, bits, lanes, clamp(width, 31)) })
}

/// A bit for each lane whose `vote` is true: `vote.sync.ballot.b32`.
///
/// # Safety
/// As the module says of `mask`.
#[inline(always)]
pub unsafe fn warp_vote_ballot(mask: u32, vote: bool) -> u32 {
    // SAFETY: the caller's.
    unsafe { ballot(mask, vote) }
}

/// Waits for the lanes of `mask`, and shows each what the others have written: `bar.warp.sync`.
///
/// # Safety
/// As the module says of `mask`.
#[inline(always)]
pub unsafe fn sync_warp(mask: u32) {
    // SAFETY: the caller's.
    unsafe { bar_warp_sync(mask) }
}

/// `join` of the values of all lanes, by halves: for an operation in which order doesn't matter. In all lanes.
///
/// # Safety
/// All lanes of the warp come here.
#[inline(always)]
pub unsafe fn warp_reduce<T: Shuffle>(value: T, join: impl Fn(T, T) -> T) -> T {
    let (mut value, mut lanes) = (value, LANES / 2);
    while lanes > 0 {
        // SAFETY: the caller's.
        value = join(value, unsafe { warp_shuffle_xor(ALL, value, lanes, LANES) });
        lanes /= 2;
    }
    value
}

/// The sum of the values of this lane and those below, wrapping.
///
/// # Safety
/// All lanes of the warp come here.
#[inline(always)]
pub unsafe fn warp_running_sum(value: u64) -> u64 {
    let (mut sum, mut delta) = (value, 1);
    while delta < LANES {
        // SAFETY: the caller's.
        let below = unsafe { warp_shuffle_up(ALL, sum, delta, LANES) };
        sum = sum.wrapping_add(if lane_id() >= delta { below } else { 0 });
        delta *= 2;
    }
    sum
}
