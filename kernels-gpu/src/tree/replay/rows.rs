//! Rows: from records into a batch, and of new items into records.

use super::super::head::Head;
use super::window::Window;
use crate::blocks::FANOUT;
use crate::device::global::{load4, store4};
use crate::device::thread::index_1d;
use crate::device::warp::lane_id;

/// Words of 16 bytes that a lane reads before it writes them.
const AT_ONCE: u32 = 4;

/// Lanes that copy a row together, half a warp of each team.
#[derive(Clone, Copy)]
pub(super) struct Lanes {
    first: u32,
    count: u32,
}

impl Lanes {
    /// This lane in team `team` of `teams`.
    #[inline(always)]
    pub(super) fn of(team: u32, teams: u32) -> Self {
        Self { first: team * FANOUT + lane_id() % FANOUT, count: teams * FANOUT }
    }

    #[inline(always)]
    fn each(self, words: u32, mut visit: impl FnMut(usize)) {
        let mut i = self.first;
        while i < words {
            visit(i as usize);
            i += self.count;
        }
    }
}

/// Copies a row of `bytes` bytes; zeros if there is no `from`.
///
/// # Safety
/// Both rows are as long, and no other lanes write them.
#[inline(always)]
pub(super) unsafe fn copy(from: Option<*const u8>, to: *mut u8, bytes: u32, lanes: Lanes) {
    let together = from.map_or(0, <*const u8>::addr) | to.addr() | bytes as usize;
    // SAFETY: the caller's; aligned to such words.
    unsafe {
        if together.is_multiple_of(16) {
            copy16(from, to, bytes / 16, lanes);
        } else if together.is_multiple_of(4) {
            let (from, to) = (from.map(<*const u8>::cast::<u32>), to.cast::<u32>());
            lanes.each(bytes / 4, |i| *to.add(i) = from.map_or(0, |from| *from.add(i)));
        } else {
            lanes.each(bytes, |i| *to.add(i) = from.map_or(0, |from| *from.add(i)));
        }
    }
}

/// Copies words of 16 bytes, whatever they mean; 32 bits of them are a float for as long as they are moved.
///
/// # Safety
/// As [`copy`]; aligned to 16 bytes.
#[inline(always)]
unsafe fn copy16(from: Option<*const u8>, to: *mut u8, words: u32, lanes: Lanes) {
    let load = |i: u32| match from {
        // SAFETY: the caller's; called for i < words.
        Some(from) => unsafe { load4(from.add(16 * i as usize).cast()) },
        None => [0.0; 4],
    };
    // SAFETY: as above.
    let store = |i: u32, word| unsafe { store4(to.add(16 * i as usize).cast(), word) };
    let mut i = lanes.first;
    while i < words && (AT_ONCE - 1) * lanes.count < words - i {
        let words = unrolled!([0 1 2 3] |k| load(i + k * lanes.count));
        unrolled!([0 1 2 3] |k| store(i + k * lanes.count, words[k as usize]));
        i += AT_ONCE * lanes.count;
    }
    while i < words {
        store(i, load(i));
        i += lanes.count;
    }
}

/// `records[(inserted + j) % capacity][offset_c..offset_c + width_c] = rows_c[j]`, for up to 8 columns c; of more rows than the
/// capacity the last ones stay. Nothing if the items were refused ([`Head::refused`]).
///
/// Inputs: `rows_c` (n, width_c) bytes, or null with a `width_c` of 0; `inserted` (the module's text), `head`. Changed:
/// `records`. Offsets and widths are in bytes.
///
/// `teams` half-warps for each row that stays, so the grid has 16 min(n, capacity) teams threads.
///
/// # Safety
/// The crate's conventions, and records are as the module says.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn replay_insert_rows(
    records: *mut u8,
    inserted: *const u64,
    head: *const Head,
    rows_0: *const u8,
    rows_1: *const u8,
    rows_2: *const u8,
    rows_3: *const u8,
    rows_4: *const u8,
    rows_5: *const u8,
    rows_6: *const u8,
    rows_7: *const u8,
    offset_0: u32,
    offset_1: u32,
    offset_2: u32,
    offset_3: u32,
    offset_4: u32,
    offset_5: u32,
    offset_6: u32,
    offset_7: u32,
    width_0: u32,
    width_1: u32,
    width_2: u32,
    width_3: u32,
    width_4: u32,
    width_5: u32,
    width_6: u32,
    width_7: u32,
    stride: u32,
    capacity: u32,
    n: u32,
    teams: u32,
) {
    let half = (index_1d() / FANOUT as usize) as u32;
    let teams = teams.max(1);
    let (row, team) = (half / teams, half % teams);
    // SAFETY: the caller's.
    if row >= n.min(capacity) || unsafe { (*head).refused } != 0 {
        return;
    }
    let (lanes, skipped) = (Lanes::of(team, teams), n.saturating_sub(capacity));
    // SAFETY: the caller's.
    let window = Window::new(capacity as usize, unsafe { *inserted } + u64::from(skipped));
    let slot = window.cursor + row as usize;
    let slot = if slot < capacity as usize { slot } else { slot - capacity as usize };
    let (record, row) = (records.wrapping_add(slot * stride as usize), (skipped + row) as usize);
    macro_rules! each {
        ($($rows:ident $offset:ident $width:ident;)*) => {$(
            // SAFETY: a row of the column, and its place in this thread's record.
            unsafe {
                let row = $rows.wrapping_add(row * $width as usize);
                copy(Some(row), record.wrapping_add($offset as usize), $width, lanes);
            }
        )*};
    }
    each! {
        rows_0 offset_0 width_0;
        rows_1 offset_1 width_1;
        rows_2 offset_2 width_2;
        rows_3 offset_3 width_3;
        rows_4 offset_4 width_4;
        rows_5 offset_5 width_5;
        rows_6 offset_6 width_6;
        rows_7 offset_7 width_7;
    }
}
