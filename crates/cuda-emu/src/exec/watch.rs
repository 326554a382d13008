//! Checks of accesses: memory that nothing has written, and races.

use super::env::Env;
use super::request::{LaneRequest, Request};
use super::step::lanes;
use crate::fault::{Fault, FaultKind};
use crate::memory::Region;

/// Of all lanes.
pub(super) fn shared_read(env: &mut Env<'_>, request: &Request, atomic: bool) -> Result<(), Box<Fault>> {
    let mut shadow = std::mem::take(&mut env.shadow);
    let mut result = Ok(());
    for lane in lanes(request.mask) {
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
