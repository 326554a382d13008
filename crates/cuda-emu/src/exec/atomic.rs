//! Atomic operations: lane after lane, each one at once.

use std::sync::atomic::Ordering;

use super::chain::Use;
use super::env::{Env, Mode, Place};
use super::request::Request;
use super::step::lanes;
use super::warp::{Activation, Warp};
use super::watch;
use crate::fault::{Fault, FaultKind};
use crate::lanes::{NONE, read_lane, write_lane};
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
        if M::COUNT {
            env.counters.atomics += u64::from(mask.count_ones());
        }
        if M::CHECK && atomic.ordered {
            env.publish(self.index);
        }
        let bytes = u64::from(atomic.width);
        let request = Request::new(&activation.file, &atomic.address, atomic.space, bytes, mask, place);
        request.by_space(|request| {
            self.chain_access::<M>(env, request, Use::Both);
            self.atomic_in::<M>(env, activation, atomic, request)
        })?;
        if M::CHECK {
            env.learn(self.index);
        }
        Ok(())
    }

    fn atomic_in<M: Mode>(
        &mut self,
        env: &mut Env<'_>,
        activation: &mut Activation,
        atomic: &Atomic,
        request: &Request,
    ) -> Result<(), Box<Fault>> {
        match request.space {
            Space::Shared | Space::Local => {
                let shared = request.space == Space::Shared;
                let limit = if shared { env.launch.shared_bytes } else { activation.end };
                request.inside(env, limit)?;
                if M::CHECK && shared {
                    watch::shared_read(env, request, true)?;
                }
                for lane in lanes(request.mask) {
                    if M::CHECK && shared {
                        watch::shared_write(env, &request.lane(lane, true), false)?;
                    }
                    let (b, c) = operands(&activation.file, atomic, lane);
                    let (memory, base) = if shared {
                        (env.shared_bytes_mut(), 0)
                    } else {
                        let base = lane * self.local.stride as usize;
                        (self.local.bytes_mut(), base)
                    };
                    let at = base + request.at[lane] as usize;
                    let old = match atomic.width {
                        2 => plain::<u16>(memory, at, atomic.update, b, c),
                        4 => plain::<u32>(memory, at, atomic.update, b, c),
                        _ => plain::<u64>(memory, at, atomic.update, b, c),
                    };
                    give(&mut activation.file, atomic, lane, old);
                }
            }
            Space::Param => return Err(request.read_only(env)),
            Space::Global | Space::Const | Space::Generic => {
                let regions = self.locate(env, request)?;
                env.inform();
                if M::CHECK
                    && atomic.ordered
                    && let Some(shadow) = &env.launch.shadow
                {
                    shadow.fence(env.linear);
                }
                let launch = env.launch;
                for lane in lanes(request.mask) {
                    let index = regions.of(lane);
                    let region = &*launch.memory.live[index];
                    if region.constant {
                        return Err(request.fault(env, FaultKind::ReadOnly, lane));
                    }
                    let at = request.at[lane] - region.base;
                    if M::CHECK {
                        let one = request.lane(lane, true);
                        watch::global_read(env, &one, index, region)?;
                        watch::global_write(env, &one, index, region, false)?;
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
