//! The backward scan by tiles: all that is no carry side by side, the carries in reference order.
//!
//! A block has a row of the batch and 32 units, one a lane, and goes through time from the end in windows of whole chunks:
//!
//! 1. Each warp computes the gates of its steps. They stay in its registers; what the chains need goes to shared memory.
//! 2. The first warp replays the gradient's carry, from the window's last step to its first. Meanwhile the others replay
//!    the state through chunks, from their checkpoints. The two chains don't need each other, and have two dependent
//!    operations a step: the carry alone decides how long this takes, for every K.
//! 3. Each warp makes the gradients of its steps.
//!
//! During 2 a block leaves most of its multiprocessor to other blocks, so it does without a second buffer for the next
//! window. Every element of the sequences is read once and written once.

use super::storage::Storage;
use super::{At, Inputs, Shape};
use crate::cell::{self, Gates, Highway};
use crate::device::shared::SharedArray;
use crate::device::thread::{block_dim_x, block_idx_x, sync_threads, thread_idx_x};
use crate::device::trap;
use crate::device::warp::{LANES, lane_id};
use crate::shared_array;
use core::mem::MaybeUninit;

/// Steps of a window that a warp has.
const STEPS: u32 = 4;
/// Most warps of a block.
const WARPS: u32 = 16;
/// Most steps of a window.
const WINDOW: usize = (STEPS * WARPS) as usize;
/// Steps of a chain whose operands are read together, so that it doesn't wait for each.
const GROUP: usize = 8;

// (window, 32): the lanes of an access lie side by side, in different banks.
shared_array!(
    /// `z'` of each step and unit.
    decays, "mingru_tiled_decays": f32; WINDOW * LANES as usize
);
shared_array!(
    /// `z * g`; then, from the chain of states, `keep * h` of the step before.
    states, "mingru_tiled_states": f32; WINDOW * LANES as usize
);
shared_array!(
    /// `s * d_out`; then, from the chain of gradients, the gradient to the state.
    gradients, "mingru_tiled_gradients": f32; WINDOW * LANES as usize
);
shared_array!(
    /// `keep` of each step.
    keeps, "mingru_tiled_keeps": f32; WINDOW
);

/// Pointers, in the order of the kernels' parameters.
#[derive(Clone, Copy)]
struct Backward<S> {
    combined: *const S,
    x: *const S,
    keep: *const f32,
    checkpoints: *const f32,
    d_out: *const S,
    d_h_last: *const f32,
    d_combined: *mut S,
    d_x: *mut S,
    d_h0: *mut f32,
}

/// What a thread has of the work.
#[derive(Clone, Copy)]
struct Place {
    row: usize,
    unit: usize,
    lane: u32,
    warp: u32,
    /// Warps of the block.
    warps: u32,
    /// Whether there is such a unit.
    active: bool,
}

impl Place {
    /// `None` for blocks beyond the work.
    #[inline(always)]
    fn new(shape: Shape) -> Option<Self> {
        let (lane, block) = (lane_id(), block_idx_x());
        let tiles = shape.hidden.div_ceil(LANES);
        let row = block.checked_div(tiles)?;
        let unit = (block - row * tiles) * LANES + lane;
        (row < shape.batch).then_some(Self {
            row: row as usize,
            unit: unit as usize,
            lane,
            warp: thread_idx_x() / LANES,
            warps: block_dim_x() / LANES,
            active: unit < shape.hidden,
        })
    }

    /// The step of a window that is this warp's number `i`.
    #[inline(always)]
    fn slot(self, i: u32) -> u32 {
        // Neighbouring steps go to different warps, so that a short window is shared too.
        i * self.warps + self.warp
    }

    /// Where the unit's entry of step `slot` lies in shared memory.
    #[inline(always)]
    fn shared(self, slot: u32) -> u32 {
        slot * LANES + self.lane
    }

    /// Where the unit's entries of step `t` lie.
    #[inline(always)]
    fn at(self, t: u32, shape: Shape) -> At {
        let step = self.row * shape.time as usize + t as usize;
        At { step, hidden: shape.hidden as usize, unit: self.unit }
    }

    /// In (B, H).
    #[inline(always)]
    fn state(self, shape: Shape) -> usize {
        self.row * shape.hidden as usize + self.unit
    }
}

/// Consecutive steps of a row, whole chunks but at the end of time.
#[derive(Clone, Copy)]
struct Window {
    start: u32,
    /// Steps.
    len: u32,
    /// The first one's chunk.
    chunk: u32,
}

/// What a thread keeps of a step while the chains are replayed.
#[derive(Clone, Copy)]
struct Kept {
    gates: Gates,
    highway: Highway,
    x: f32,
    d_out: f32,
}

/// What a thread keeps of its steps, those that there are.
type KeptSteps = [MaybeUninit<Kept>; STEPS as usize];

/// An array with an expression for each of the warp's steps of a window.
macro_rules! for_each_step {
    (|$i:ident| $value:expr) => {
        unrolled!([0 1 2 3] |$i| $value)
    };
}

/// Reads a step, if it is one of the window's. Nothing stands for the others: zeros would have to be made.
///
/// # Safety
/// As the kernels; the thread is active.
#[inline(always)]
unsafe fn load<S: Storage>(
    p: Backward<S>,
    shape: Shape,
    place: Place,
    window: Window,
    slot: u32,
) -> MaybeUninit<Inputs<S, S>> {
    if slot >= window.len {
        return MaybeUninit::uninit();
    }
    let at = place.at(window.start + slot, shape);
    // SAFETY: (B, T, 3H) and (B, T, H).
    MaybeUninit::new(unsafe { Inputs::load(p.combined, p.x, at, *p.d_out.add(at.narrow())) })
}

/// Computes what needs no carry of a step, and files what the chains need.
///
/// # Safety
/// If the slot is one of the window's, it is this warp's, and the inputs are there.
#[inline(always)]
unsafe fn prepare<S: Storage>(
    inputs: MaybeUninit<Inputs<S, S>>,
    place: Place,
    window: Window,
    slot: u32,
) -> MaybeUninit<Kept> {
    if slot >= window.len {
        return MaybeUninit::uninit();
    }
    // SAFETY: the caller's.
    let inputs = unsafe { inputs.assume_init() };
    let (gates, highway, x, d_out) = (inputs.gates(), inputs.highway(), inputs.x.load(), inputs.beside.load());
    let at = place.shared(slot);
    // SAFETY: the slot is below WINDOW, and the caller's.
    unsafe {
        decays().write(at, gates.zc);
        states().write(at, cell::inflow(&gates));
        gradients().write(at, cell::direct(&highway, d_out));
    }
    MaybeUninit::new(Kept { gates, highway, x, d_out })
}

/// Computes what needs no carry of the warp's steps. All loads come first, so that they wait together.
///
/// # Safety
/// As the kernels; the thread is active.
#[inline(always)]
unsafe fn open<S: Storage>(p: Backward<S>, shape: Shape, place: Place, window: Window) -> KeptSteps {
    // SAFETY: the caller's.
    let inputs = for_each_step!(|i| unsafe { load(p, shape, place, window, place.slot(i)) });
    // SAFETY: the slots are this warp's.
    for_each_step!(|i| unsafe { prepare(inputs[i as usize], place, window, place.slot(i)) })
}

/// `N` elements of a shared array, each so far from the one before.
///
/// # Safety
/// As [`SharedArray::read`].
#[inline(always)]
unsafe fn read_group<const N: usize>(array: SharedArray<f32>, distance: u32) -> [f32; N] {
    let mut values = [0.0; N];
    for (i, value) in values.iter_mut().enumerate() {
        // SAFETY: the caller's.
        *value = unsafe { array.read(i as u32 * distance) };
    }
    values
}

/// Replays the gradient's carry through `N` steps from `slot` on, backwards, and leaves the gradients to their states.
///
/// # Safety
/// This thread alone has this unit's gradients.
#[inline(always)]
unsafe fn replay_gradients<const N: usize>(mut carry: f32, place: Place, slot: u32) -> f32 {
    let at = place.shared(slot);
    let (decays, keeps, gradients) = (decays().from(at), keeps().from(slot), gradients().from(at));
    // SAFETY: the steps are the window's, and decays and keeps aren't written now.
    let (decay, keep, mut gradient) =
        unsafe { (read_group::<N>(decays, LANES), read_group::<N>(keeps, 1), read_group::<N>(gradients, LANES)) };
    for i in (0..N).rev() {
        gradient[i] = cell::state_gradient(carry, gradient[i]);
        carry = cell::gradient_carry(decay[i] * keep[i], gradient[i]);
    }
    for (i, &gradient) in gradient.iter().enumerate() {
        // SAFETY: the caller's.
        unsafe { gradients.write(i as u32 * LANES, gradient) };
    }
    carry
}

/// Replays the state through `N` steps from `slot` on, and leaves what each has carried over.
///
/// # Safety
/// This thread alone has this unit's states.
#[inline(always)]
unsafe fn replay_states<const N: usize>(mut h: f32, place: Place, slot: u32) -> f32 {
    let at = place.shared(slot);
    let (decays, keeps, states) = (decays().from(at), keeps().from(slot), states().from(at));
    // SAFETY: the steps are the window's, and decays and keeps aren't written now.
    let (decay, keep, mut state) =
        unsafe { (read_group::<N>(decays, LANES), read_group::<N>(keeps, 1), read_group::<N>(states, LANES)) };
    for i in 0..N {
        let carried = keep[i] * h;
        h = cell::next_state(decay[i], carried, state[i]);
        state[i] = carried;
    }
    for (i, &state) in state.iter().enumerate() {
        // SAFETY: the caller's.
        unsafe { states.write(i as u32 * LANES, state) };
    }
    h
}

/// Replays the gradient's carry through a window.
///
/// # Safety
/// The first warp alone comes here, with its active lanes.
#[inline(always)]
unsafe fn gradient_chain(mut carry: f32, place: Place, window: Window) -> f32 {
    let mut left = window.len;
    while left >= GROUP as u32 {
        left -= GROUP as u32;
        // SAFETY: the caller's.
        carry = unsafe { replay_gradients::<GROUP>(carry, place, left) };
    }
    while left > 0 {
        left -= 1;
        // SAFETY: the caller's.
        carry = unsafe { replay_gradients::<1>(carry, place, left) };
    }
    carry
}

/// The chunks of a window that a warp replays: from its first one on, so many apart.
#[derive(Clone, Copy)]
struct Share {
    first: u32,
    distance: u32,
    /// K, steps of a chunk.
    interval: u32,
}

impl Share {
    /// All warps but the first share the chunks; a lone one has them all. `None` for the first.
    #[inline(always)]
    fn new(place: Place, interval: u32) -> Option<Self> {
        match (place.warps, place.warp) {
            (1, _) => Some(Self { first: 0, distance: 1, interval }),
            (_, 0) => None,
            (warps, warp) => Some(Self { first: warp - 1, distance: warps - 1, interval }),
        }
    }
}

/// The state that enters a chunk of the window, or anything if there is no such chunk. `unit` points to the unit's
/// checkpoint before the first step.
///
/// # Safety
/// As the kernels; the thread is active.
#[inline(always)]
unsafe fn checkpoint(unit: *const f32, shape: Shape, window: Window, share: Share, chunk: u32) -> f32 {
    if chunk * share.interval >= window.len {
        return 0.0;
    }
    // SAFETY: (B, ceil(T / K), H).
    unsafe { *unit.add((window.chunk + chunk) as usize * shape.hidden as usize) }
}

/// Replays the state through the warp's chunks of a window; `h` enters the first of them.
///
/// # Safety
/// As the kernels; the thread is active, and no other warp has the share.
#[inline(always)]
unsafe fn state_chains(unit: *const f32, shape: Shape, place: Place, window: Window, share: Share, mut h: f32) {
    let (mut chunk, interval) = (share.first, share.interval);
    while chunk * interval < window.len {
        let (mut slot, end) = (chunk * interval, ((chunk + 1) * interval).min(window.len));
        chunk += share.distance;
        // It arrives while the chunk before it is replayed.
        // SAFETY: the caller's.
        let next = unsafe { checkpoint(unit, shape, window, share, chunk) };
        while slot + GROUP as u32 <= end {
            // SAFETY: the caller's.
            h = unsafe { replay_states::<GROUP>(h, place, slot) };
            slot += GROUP as u32;
        }
        while slot < end {
            // SAFETY: the caller's.
            h = unsafe { replay_states::<1>(h, place, slot) };
            slot += 1;
        }
        h = next;
    }
}

/// Writes the gradients of a step, if it is one of the window's.
///
/// # Safety
/// As the kernels; the thread is active, the slot this warp's, and if it is one of the window's, its step is there.
#[inline(always)]
unsafe fn close<S: Storage>(
    p: Backward<S>,
    shape: Shape,
    place: Place,
    window: Window,
    slot: u32,
    kept: MaybeUninit<Kept>,
) {
    if slot >= window.len {
        return;
    }
    // SAFETY: the caller's.
    let Kept { gates, highway, x, d_out } = unsafe { kept.assume_init() };
    let shared = place.shared(slot);
    // SAFETY: the slot is below WINDOW; it is written next by this thread.
    let (carried, dh) = unsafe { (states().read(shared), gradients().read(shared)) };
    let factors = cell::factors(&gates, carried, cell::state(&gates, carried), &highway, x, d_out);
    let at = place.at(window.start + slot, shape);
    // SAFETY: (B, T, 3H) and (B, T, H), and this thread alone has this unit of this step.
    unsafe {
        *p.d_combined.add(at.wide(0)) = S::store(dh * factors.hidden);
        *p.d_combined.add(at.wide(1)) = S::store(dh * factors.gate);
        *p.d_combined.add(at.wide(2)) = S::store(factors.d_proj);
        *p.d_x.add(at.narrow()) = S::store(factors.d_x);
    }
}

/// # Safety
/// As the kernels.
#[inline(always)]
unsafe fn backward_tiled<S: Storage>(p: Backward<S>, shape: Shape, interval: u32) {
    let Some(place) = Place::new(shape) else { return };
    let chunks = (place.warps * STEPS).checked_div(interval).unwrap_or(0);
    if chunks == 0 || place.warps > WARPS {
        trap();
    }
    let (most, state) = (chunks * interval, place.state(shape));
    let share = Share::new(place, interval);
    let (first_warp, active) = (place.warp == 0, place.active);
    // The compiler doesn't see that neither K nor the window is 0.
    let of_row = place.row * shape.time.div_ceil(interval.max(1)) as usize * shape.hidden as usize;
    let unit = p.checkpoints.wrapping_add(of_row + place.unit);
    // SAFETY: (B, H).
    let mut carry = if first_warp && active { unsafe { *p.d_h_last.add(state) } } else { 0.0 };
    for index in (0..shape.time.div_ceil(most.max(1))).rev() {
        let start = index * most;
        let window = Window { start, len: most.min(shape.time - start), chunk: index * chunks };
        let (thread, mut kept, mut h) = (thread_idx_x(), [MaybeUninit::uninit(); STEPS as usize], 0.0);
        if active {
            if let Some(share) = share {
                // SAFETY: the caller's.
                h = unsafe { checkpoint(unit, shape, window, share, share.first) };
            }
            // SAFETY: the caller's.
            kept = unsafe { open(p, shape, place, window) };
        }
        if thread < window.len {
            // SAFETY: (B, T); there are more threads than steps, and the last window's chains have ended.
            unsafe { keeps().write(thread, *p.keep.add(place.at(start + thread, shape).step)) };
        }
        sync_threads();
        if active {
            if first_warp {
                // SAFETY: the first warp's.
                carry = unsafe { gradient_chain(carry, place, window) };
            }
            if let Some(share) = share {
                // SAFETY: the caller's, and the warp's own share.
                unsafe { state_chains(unit, shape, place, window, share, h) };
            }
        }
        sync_threads();
        if active {
            // SAFETY: the caller's.
            for_each_step!(|i| unsafe { close(p, shape, place, window, place.slot(i), kept[i as usize]) });
        }
    }
    if first_warp && active {
        // SAFETY: (B, H), and this thread alone has this unit.
        unsafe { *p.d_h0.add(state) = carry };
    }
}

macro_rules! kernels {
    ($($kind:ty, $text:literal: $name:ident;)*) => {$(
        #[doc = concat!("The backward scan of sequences in ", $text, ", as `mingru::backward`, by tiles.")]
        ///
        /// Inputs: `combined` (B, T, 3H), `x` (B, T, H), `keep` (B, T), `checkpoints` (B, ceil(T / K), H) f32, as the forward
        /// scan left them, `d_out` (B, T, H), `d_h_last` (B, H). Outputs: `d_combined` (B, T, 3H), `d_x` (B, T, H), `d_h0`
        /// (B, H), which may be `d_h_last`. The bits don't depend on `interval` = K.
        ///
        /// One block a row of the batch and tile of 32 units: `B * ceil(H / 32)` blocks, below 2^31, of W warps, all the
        /// same. A block works on up to 4 W steps at once, of which K divides a window: `K / 4 <= W <= 16`; the kernel ends
        /// with an error otherwise. Few warps a block let more blocks share a multiprocessor: 4 serve best where there are
        /// at least 4 blocks for each, 16 where there are fewer blocks than multiprocessors; more than `ceil(T / 4)` find
        /// nothing to do.
        ///
        /// # Safety
        /// The crate's conventions; sequences may have 2^31 elements and more.
        #[unsafe(no_mangle)]
        pub unsafe extern "ptx-kernel" fn $name(
            combined: *const $kind, x: *const $kind, keep: *const f32, checkpoints: *const f32, d_out: *const $kind,
            d_h_last: *const f32, d_combined: *mut $kind, d_x: *mut $kind, d_h0: *mut f32, batch: u32, time: u32,
            hidden: u32, interval: u32,
        ) {
            let pointers = Backward { combined, x, keep, checkpoints, d_out, d_h_last, d_combined, d_x, d_h0 };
            // SAFETY: the caller's.
            unsafe { backward_tiled(pointers, Shape { batch, time, hidden }, interval) }
        }
    )*};
}

kernels! {
    f32, "f32": mingru_scan_backward_tiled_f32;
    half::bf16, "bf16": mingru_scan_backward_tiled_bf16;
}
