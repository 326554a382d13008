//! Atomic operations: lane after lane, each one at once.

use std::sync::atomic::Ordering;

use super::access::{
    Regions, addresses, by_space, check_global_read, check_global_write, check_shared_read, check_shared_write, inside,
};
use super::env::{Env, Mode, Place};
use super::step::lanes;
use super::warp::{Activation, Warp};
use crate::fault::{Fault, FaultKind};
use crate::lanes::{LANES, NONE, read_lane, write_lane};
use crate::memory::{Region, Word};
use crate::program::Atomic;
use crate::types::Space;

impl Warp {
    pub(super) fn atomic<M: Mode>(
        &mut self,
        env: &mut Env<'_>,
        activation: &mut Activation,
        atomic: &Atomic,
        mask: u32,
        place: Place,
    ) -> Result<(), Box<Fault>> {
        let all = addresses(&activation.file, &atomic.address);
        if M::COUNT {
            env.counters.atomics += u64::from(mask.count_ones());
        }
        if atomic.space != Space::Generic {
            return self.atomic_in::<M>(env, activation, atomic, atomic.space, &all, mask, place);
        }
        for (space, mask, all) in by_space(mask, &all) {
            self.atomic_in::<M>(env, activation, atomic, space, &all, mask, place)?;
        }
        Ok(())
    }

    #[allow(clippy::too_many_arguments)]
    fn atomic_in<M: Mode>(
        &mut self,
        env: &mut Env<'_>,
        activation: &mut Activation,
        atomic: &Atomic,
        space: Space,
        all: &[u64; LANES],
        mask: u32,
        place: Place,
    ) -> Result<(), Box<Fault>> {
        let bytes = u64::from(atomic.width);
        match space {
            Space::Shared | Space::Local => {
                let shared = space == Space::Shared;
                let limit = if shared { env.launch.shared_bytes } else { activation.end };
                inside(env, space, all, limit, bytes, mask, place)?;
                if M::CHECK && shared {
                    check_shared_read(env, true, all, bytes, mask, place)?;
                }
                for lane in lanes(mask) {
                    if M::CHECK && shared {
                        check_shared_write(env, true, all[lane], bytes, false, place, lane)?;
                    }
                    let (b, c) = operands(&activation.file, atomic, lane);
                    let (memory, base) = if shared {
                        (env.shared_bytes_mut(), 0)
                    } else {
                        let base = lane * self.local.stride as usize;
                        (self.local.bytes_mut(), base)
                    };
                    let at = base + all[lane] as usize;
                    let old = match atomic.width {
                        2 => plain::<u16>(memory, at, atomic.update, b, c),
                        4 => plain::<u32>(memory, at, atomic.update, b, c),
                        _ => plain::<u64>(memory, at, atomic.update, b, c),
                    };
                    give(&mut activation.file, atomic, lane, old);
                }
            }
            Space::Param => {
                let lane = mask.trailing_zeros() as usize;
                return Err(env.access_fault(FaultKind::ReadOnly, place, lane, space, all[lane]));
            }
            Space::Global | Space::Const | Space::Generic => {
                let regions: Regions = self.locate(env, all, bytes, mask, place)?;
                env.informed = true;
                if M::CHECK
                    && atomic.ordered
                    && let Some(shadow) = &env.launch.shadow
                {
                    shadow.fence(env.linear);
                }
                let launch = env.launch;
                for lane in lanes(mask) {
                    let index = regions.of(lane);
                    let region = &*launch.memory.live[index];
                    if region.constant {
                        return Err(env.access_fault(FaultKind::ReadOnly, place, lane, space, all[lane]));
                    }
                    let at = all[lane] - region.base;
                    if M::CHECK {
                        check_global_read(env, index, region, true, all[lane], bytes, place, lane)?;
                        check_global_write(env, index, region, true, at, bytes, false, place, lane)?;
                    }
                    let (b, c) = operands(&activation.file, atomic, lane);
                    let old = exchange(region, at, atomic.width, |old| (atomic.update)(old, b, c));
                    give(&mut activation.file, atomic, lane, old);
                }
            }
        }
        Ok(())
    }
}

fn operands(file: &[u64], atomic: &Atomic, lane: usize) -> (u64, u64) {
    let b = read_lane(file, atomic.b, atomic.words, lane);
    let c = if atomic.c == NONE { 0 } else { read_lane(file, atomic.c, atomic.words, lane) };
    (b, c)
}

fn give(file: &mut [u64], atomic: &Atomic, lane: usize, old: u64) {
    if atomic.d != NONE {
        write_lane(file, atomic.d, atomic.words, lane, old);
    }
}

fn plain<W: Word>(memory: &mut [u8], at: usize, update: fn(u64, u64, u64) -> u64, b: u64, c: u64) -> u64 {
    let old = W::read(memory, at).zero_extended();
    W::from_u64(update(old, b, c)).write(memory, at);
    old
}

/// Replaces a word that others may replace at the same time; gives the old one.
fn exchange(region: &Region, at: u64, width: u32, update: impl Fn(u64) -> u64) -> u64 {
    // Memory has the device's byte order.
    macro_rules! exchange {
        ($t:ty, $atomic:ident) => {{
            let word = region.$atomic(at);
            let mut old = word.load(Ordering::Relaxed);
            loop {
                let new = (update(<$t>::from_le(old).into()) as $t).to_le();
                match word.compare_exchange_weak(old, new, Ordering::AcqRel, Ordering::Relaxed) {
                    Ok(_) => break <$t>::from_le(old).into(),
                    Err(current) => old = current,
                }
            }
        }};
    }
    match width {
        2 => exchange!(u16, atomic_u16),
        4 => exchange!(u32, atomic_u32),
        _ => exchange!(u64, atomic_u64),
    }
}
