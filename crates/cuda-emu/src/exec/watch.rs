//! Checks of accesses: memory that nothing has written, and races.

use super::env::Env;
use super::local::Local;
use super::request::{LaneRequest, Regions, Request};
use super::step::lanes;
use crate::check::{WarpAccess, whole_words};
use crate::fault::{Fault, FaultKind};
use crate::memory::Region;

/// Of all lanes.
pub(super) fn shared_read(env: &mut Env<'_>, request: &Request, atomic: bool) -> Result<(), Box<Fault>> {
    let launch = env.launch;
    let count = if launch.races { whole_words(request.bytes, atomic) } else { 0 };
    let access = WarpAccess::shared(env.clocks.accessor(env.linear, request.place.warp, env.informed));
    let mut left = 0;
    for lane in lanes(request.mask) {
        let word = (request.at[lane] / 4) as usize;
        let common = count > 0 && env.shadow.read_words(&access, lane, (word, count), launch.uninitialised);
        left |= u32::from(!common) << lane;
    }
    if left == 0 { Ok(()) } else { shared_read_slowly(env, request, left, atomic) }
}

fn shared_read_slowly(env: &mut Env<'_>, request: &Request, mask: u32, atomic: bool) -> Result<(), Box<Fault>> {
    let mut shadow = std::mem::take(&mut env.shadow);
    let mut result = Ok(());
    for lane in lanes(mask) {
        let one = request.lane(lane, atomic);
        if env.launch.uninitialised && !shadow.is_written(one.at, one.bytes) {
            result = Err(one.fault(env, FaultKind::Uninitialised { bytes: one.bytes }));
            break;
        }
        if env.launch.races
            && let Some(conflict) = shadow.read(&env.accessor(&one), one.at, one.bytes)
        {
            result = Err(env.race(conflict, false, &one));
            break;
        }
    }
    env.shadow = shadow;
    result
}

/// Notes a write by one lane, if it is a common one; else [`shared_write`] has to look at it.
#[inline(always)]
pub(super) fn common_shared_write(env: &mut Env<'_>, request: &Request, lane: usize, atomic: bool) -> bool {
    let count = if env.launch.races { whole_words(request.bytes, atomic) } else { 0 };
    if count == 0 {
        return false;
    }
    let access = WarpAccess::shared(env.clocks.accessor(env.linear, request.place.warp, env.informed));
    env.shadow.write_words(&access, lane, ((request.at[lane] / 4) as usize, count))
}

/// Lanes that read local memory that nothing has written. No other thread has it, so there are no races.
pub(super) fn unwritten(local: &Local, request: &Request) -> u32 {
    let is_written = |lane: usize| {
        local.is_written(lane * local.stride as usize + request.at[lane] as usize, request.bytes as usize)
    };
    lanes(request.mask).filter(|&lane| !is_written(lane)).fold(0, |unwritten, lane| unwritten | 1 << lane)
}

/// `same` says that the write changes nothing, which may be done by many.
pub(super) fn shared_write(env: &mut Env<'_>, one: &LaneRequest, same: bool) -> Result<(), Box<Fault>> {
    let mut shadow = std::mem::take(&mut env.shadow);
    // What nothing has written has no value that could stay the same.
    let same = same && shadow.is_written(one.at, one.bytes);
    shadow.mark(one.at, one.bytes);
    let conflict = if env.launch.races { shadow.write(&env.accessor(one), one.at, one.bytes, same) } else { None };
    env.shadow = shadow;
    conflict.map_or(Ok(()), |conflict| Err(env.race(conflict, true, one)))
}

/// Of all lanes.
pub(super) fn global_reads(
    env: &Env<'_>,
    request: &Request,
    regions: &Regions,
    atomic: bool,
) -> Result<(), Box<Fault>> {
    let launch = env.launch;
    let by = env.clocks.accessor(env.linear, request.place.warp, env.informed);
    let count = whole_words(request.bytes, atomic);
    let access = launch.shadow.as_ref().filter(|_| count > 0).map(|shadow| (shadow, WarpAccess::global(by, shadow)));
    for lane in lanes(request.mask) {
        let index = regions.of(lane);
        let region = &*launch.memory.live[index];
        if let (Some((shadow, access)), false) = (&access, region.constant) {
            let at = request.at[lane] - region.base;
            let written = !launch.uninitialised || region.is_written(at, request.bytes);
            let place = ((index, region.bytes), ((at / 4) as usize, count));
            if written && shadow.read_words(access, lane, place.0, place.1) {
                continue;
            }
        }
        global_read(env, &request.lane(lane, atomic), index, region)?;
    }
    Ok(())
}

/// Notes a write by one lane, if it is a common one; else [`global_write`] has to look at it.
#[inline(always)]
pub(super) fn common_global_write(
    env: &Env<'_>,
    request: &Request,
    (index, region): (usize, &Region),
    lane: usize,
    atomic: bool,
) -> bool {
    let count = whole_words(request.bytes, atomic);
    let (Some(shadow), 1..) = (&env.launch.shadow, count) else { return false };
    let by = env.clocks.accessor(env.linear, request.place.warp, env.informed);
    let at = request.at[lane] - region.base;
    let access = WarpAccess::global(by, shadow);
    let common = shadow.write_words(&access, lane, (index, region.bytes), ((at / 4) as usize, count));
    if common {
        region.mark(at, request.bytes);
    }
    common
}

/// `index` is that of the region in the launch.
pub(super) fn global_read(env: &Env<'_>, one: &LaneRequest, index: usize, region: &Region) -> Result<(), Box<Fault>> {
    let at = one.at - region.base;
    if env.launch.uninitialised && !region.is_written(at, one.bytes) {
        return Err(one.fault(env, FaultKind::Uninitialised { bytes: one.bytes }));
    }
    if let (Some(shadow), false) = (&env.launch.shadow, region.constant)
        && let Some(conflict) = shadow.read(&env.accessor(one), index, region.bytes, at, one.bytes)
    {
        return Err(env.race(conflict, false, one));
    }
    Ok(())
}

/// `same` as for shared memory.
pub(super) fn global_write(
    env: &Env<'_>,
    one: &LaneRequest,
    index: usize,
    region: &Region,
    same: bool,
) -> Result<(), Box<Fault>> {
    let at = one.at - region.base;
    let same = same && region.is_written(at, one.bytes);
    region.mark(at, one.bytes);
    if let Some(shadow) = &env.launch.shadow
        && let Some(conflict) = shadow.write(&env.accessor(one), index, region.bytes, at, one.bytes, same)
    {
        return Err(env.race(conflict, true, one));
    }
    Ok(())
}
