//! Asynchronous copies from global to shared memory.

use super::chain::Use;
use super::env::{Env, Mode, Place};
use super::request::{LaneRequest, Request};
use super::step::lanes;
use super::warp::{Activation, Warp};
use super::watch;
use crate::count::sectors;
use crate::fault::{Fault, FaultKind};
use crate::lanes::{LANES, NARROW, NONE, read_lane};
use crate::program::{Access, CopyAsync, CopyBulk};
use crate::types::Space;

/// Bytes of which bulk copies move a multiple.
const BULK: u64 = 16;

impl Warp {
    /// Copies at once what the hardware copies later.
    pub(super) fn copy_async<M: Mode>(
        &mut self,
        env: &mut Env<'_>,
        activation: &mut Activation,
        copy: &CopyAsync,
        mask: u32,
        place: Place,
    ) -> Result<(), Box<Fault>> {
        let file = &activation.file;
        let bytes = u64::from(copy.bytes);
        let to = Request::new(file, &copy.to, Space::Shared, bytes, mask, place);
        to.inside(env, env.launch.shared_bytes)?;
        let mut reading = 0;
        let mut sizes = [bytes; LANES];
        for lane in lanes(mask) {
            if copy.source_bytes != NONE {
                sizes[lane] = read_lane(file, copy.source_bytes, NARROW, lane).min(bytes);
            }
            if copy.ignore != NONE && read_lane(file, copy.ignore, 1, lane) != 0 {
                sizes[lane] = 0;
            }
            reading |= u32::from(sizes[lane] > 0) << lane;
        }
        // An access that reads less than its size must still be aligned to it.
        let from = Request::new(file, &copy.from, Space::Global, bytes, reading, place);
        let regions = if reading == 0 { None } else { Some(self.locate(env, &from)?) };
        if M::COUNT {
            env.counters.shared_store_requests += 1;
            if reading != 0 {
                env.counters.global_load_requests += 1;
                env.counters.global_load_sectors += sectors(&from.at, bytes, reading);
                env.counters.global_load_bytes += lanes(reading).map(|lane| sizes[lane]).sum::<u64>();
            }
        }
        self.chain_access::<M>(env, &from, Use::Read);
        self.chain_access::<M>(env, &to, Use::Write);
        let launch = env.launch;
        for lane in lanes(mask) {
            let mut buffer = [0; 16];
            if let (Some(regions), true) = (&regions, sizes[lane] > 0) {
                let index = regions.of(lane);
                let region = &*launch.memory.live[index];
                if M::CHECK {
                    let one = LaneRequest { bytes: sizes[lane], ..from.lane(lane, false) };
                    watch::global_read(env, &one, index, region)?;
                }
                region.read(from.at[lane] - region.base, &mut buffer[..sizes[lane] as usize]);
            }
            if M::CHECK {
                watch::shared_write(env, &to.lane(lane, false), false)?;
            }
            let at = to.at[lane] as usize;
            env.shared_bytes_mut()[at..at + bytes as usize].copy_from_slice(&buffer[..bytes as usize]);
        }
        Ok(())
    }

    /// Copies at once, lane after lane.
    pub(super) fn copy_bulk<M: Mode>(
        &mut self,
        env: &mut Env<'_>,
        activation: &mut Activation,
        copy: &CopyBulk,
        mask: u32,
        place: Place,
    ) -> Result<(), Box<Fault>> {
        for lane in lanes(mask) {
            let bytes = read_lane(&activation.file, copy.bytes, NARROW, lane);
            if !bytes.is_multiple_of(BULK) {
                return Err(env.fault(FaultKind::Misaligned { bytes: BULK }, place, lane));
            }
            let request = |access: &Access, activation: &Activation| {
                Request::new(&activation.file, &access.address, access.space, BULK, 1 << lane, place)
            };
            let (mut from, mut to) = (request(&copy.from, activation), request(&copy.to, activation));
            for _ in 0..bytes / BULK {
                self.load_request::<M>(env, activation, &copy.from, &from)?;
                self.store_request::<M>(env, activation, &copy.to, &to)?;
                from.at[lane] = from.at[lane].wrapping_add(BULK);
                to.at[lane] = to.at[lane].wrapping_add(BULK);
            }
            if let Some(barrier) = &copy.barrier {
                let request = Request::new(&activation.file, barrier, Space::Shared, 8, 1 << lane, place);
                request.inside(env, env.launch.shared_bytes)?;
                self.chain_access::<M>(env, &request, Use::Both);
                self.complete_bytes::<M>(env, bytes, &request.lane(lane, true))?;
            }
        }
        Ok(())
    }
}
