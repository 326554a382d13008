//! Where the lanes of a warp access memory: addresses, spaces, bounds and alignment.

use super::env::{Env, Place};
use super::step::lanes;
use super::warp::Warp;
use crate::fault::{Fault, FaultKind};
use crate::lanes::{LANES, NARROW, read_lane};
use crate::memory::layout::{LOCAL, PARAMETERS, SHARED, WINDOW};
use crate::program::Address;
use crate::types::Space;

/// What one instruction of a warp asks of one space.
#[derive(Clone, Copy)]
pub(super) struct Request {
    pub(super) space: Space,
    /// Address in the space of each lane; those outside the mask mean nothing.
    pub(super) at: [u64; LANES],
    /// Bytes of each lane, a power of two.
    pub(super) bytes: u64,
    pub(super) mask: u32,
    pub(super) place: Place,
}

/// The part of one lane.
#[derive(Clone, Copy)]
pub(super) struct LaneRequest {
    pub(super) space: Space,
    pub(super) at: u64,
    pub(super) bytes: u64,
    pub(super) lane: usize,
    pub(super) place: Place,
    /// Whether it is atomic, or strong enough to race with atomics.
    pub(super) atomic: bool,
}

impl LaneRequest {
    #[cold]
    pub(super) fn fault(&self, env: &Env<'_>, kind: FaultKind) -> Box<Fault> {
        env.access_fault(kind, self.place, self.lane, self.space, self.at)
    }
}

impl Request {
    pub(super) fn new(file: &[u64], address: &Address, space: Space, bytes: u64, mask: u32, place: Place) -> Self {
        Self { space, at: addresses(file, address), bytes, mask, place }
    }

    pub(super) fn lane(&self, lane: usize, atomic: bool) -> LaneRequest {
        LaneRequest { space: self.space, at: self.at[lane], bytes: self.bytes, lane, place: self.place, atomic }
    }

    #[cold]
    pub(super) fn fault(&self, env: &Env<'_>, kind: FaultKind, lane: usize) -> Box<Fault> {
        self.lane(lane, false).fault(env, kind)
    }

    /// The fault of a write to what is only read, by the first lane.
    #[cold]
    pub(super) fn read_only(&self, env: &Env<'_>) -> Box<Fault> {
        self.fault(env, FaultKind::ReadOnly, self.mask.trailing_zeros() as usize)
    }

    /// Makes one access of it, or of a generic one an access to each space that its lanes point to, in the order of
    /// their first lanes. The first fault ends it.
    pub(super) fn by_space(&self, mut access: impl FnMut(&Self) -> Result<(), Box<Fault>>) -> Result<(), Box<Fault>> {
        if self.space != Space::Generic {
            return access(self);
        }
        let mut left = self.mask;
        while left != 0 {
            let (space, _) = window(self.at[left.trailing_zeros() as usize]);
            let mut part = Self { space, mask: 0, ..*self };
            for lane in lanes(left) {
                let (its, offset) = window(self.at[lane]);
                if its == space {
                    part.mask |= 1 << lane;
                    part.at[lane] = offset;
                }
            }
            left &= !part.mask;
            access(&part)?;
        }
        Ok(())
    }

    /// Fails unless all lanes are aligned and end by `limit`.
    pub(super) fn inside(&self, env: &Env<'_>, limit: u64) -> Result<(), Box<Fault>> {
        let bytes = self.bytes;
        let mut good = bytes <= limit;
        let last = limit.wrapping_sub(bytes);
        for (lane, &at) in self.at.iter().enumerate() {
            good &= (at <= last) & (at & (bytes - 1) == 0) | (self.mask >> lane & 1 == 0);
        }
        if good {
            return Ok(());
        }
        for lane in lanes(self.mask) {
            let at = self.at[lane];
            let kind = if bytes > limit || at > last {
                FaultKind::OutOfBounds { bytes }
            } else if at & (bytes - 1) != 0 {
                FaultKind::Misaligned { bytes }
            } else {
                continue;
            };
            return Err(self.fault(env, kind, lane));
        }
        Ok(())
    }
}

impl Warp {
    /// The regions of an access to global or constant memory, which must be inside them and aligned.
    pub(super) fn locate(&mut self, env: &Env<'_>, request: &Request) -> Result<Regions, Box<Fault>> {
        let memory = &env.launch.memory;
        let bytes = request.bytes;
        if let Some(region) = memory.live.get(self.hint) {
            let mut good = true;
            for (lane, &address) in request.at.iter().enumerate() {
                let at = address.wrapping_sub(region.base);
                let fits =
                    at <= region.bytes.wrapping_sub(bytes) && bytes <= region.bytes && address & (bytes - 1) == 0;
                good &= fits | (request.mask >> lane & 1 == 0);
            }
            if good {
                return Ok(Regions::One(self.hint));
            }
        }
        let mut found = [0_u32; LANES];
        for lane in lanes(request.mask) {
            let address = request.at[lane];
            // Constants have addresses of global memory.
            let fault = |kind| env.access_fault(kind, request.place, lane, Space::Global, address);
            if address & (bytes - 1) != 0 {
                return Err(fault(FaultKind::Misaligned { bytes }));
            }
            match memory.locate(address, bytes, &mut self.hint) {
                Some((index, _)) => found[lane] = index as u32,
                None => return Err(fault(FaultKind::OutOfBounds { bytes })),
            }
        }
        Ok(Regions::Many(found))
    }
}

/// Regions of memory, by their index in the launch, that lanes access.
pub(super) enum Regions {
    One(usize),
    Many([u32; LANES]),
}

impl Regions {
    #[inline(always)]
    pub(super) fn of(&self, lane: usize) -> usize {
        match self {
            Self::One(index) => *index,
            Self::Many(found) => found[lane] as usize,
        }
    }
}

/// Addresses of all lanes, in the space of the access.
fn addresses(file: &[u64], address: &Address) -> [u64; LANES] {
    let mut all = [0; LANES];
    if address.words == NARROW {
        for (lane, one) in all.iter_mut().enumerate() {
            *one = read_lane(file, address.row, NARROW, lane).wrapping_add_signed(address.offset) & 0xffff_ffff;
        }
    } else {
        let row = &file[address.row as usize..address.row as usize + LANES];
        for (one, &base) in all.iter_mut().zip(row) {
            *one = base.wrapping_add_signed(address.offset);
        }
    }
    all
}

/// The space that a generic address is in, and its offset there.
pub(super) fn window(address: u64) -> (Space, u64) {
    for (space, base) in [(Space::Shared, SHARED), (Space::Local, LOCAL), (Space::Param, PARAMETERS)] {
        let offset = address.wrapping_sub(base);
        if offset < WINDOW {
            return (space, offset);
        }
    }
    (Space::Global, address)
}
