//! Barriers that are objects in shared memory (`mbarrier`). What the 64 bits of one mean is left open by the ISA.

use std::collections::HashMap;

use super::chain::Use;
use super::env::{Env, Mode, Place};
use super::request::{LaneRequest, Request};
use super::step::lanes;
use super::warp::{Activation, Warp};
use super::watch;
use crate::check::merge;
use crate::fault::{Fault, FaultKind};
use crate::lanes::{NARROW, NONE, WIDE, read_lane, write_lane};
use crate::program::{BarrierObject, BarrierObjectKind as Kind};
use crate::types::Space;

/// Most arrivals of a phase.
const MOST: u64 = (1 << 20) - 1;

/// What warps that have arrived at a barrier know, for its phase and for the one before it.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    arriving: Vec<u32>,
    complete: Vec<u32>,
}

/// The barriers of a block, by address.
pub(super) type Objects = HashMap<u64, Known>;

/// The state of a barrier.
#[derive(Clone, Copy, Debug)]
struct State {
    /// Parity of the phase that is going on.
    odd: bool,
    /// Arrivals that are missing in this phase, and those that a phase needs.
    pending: u64,
    expected: u64,
    /// Bytes that are still to come, less those that came before they were expected.
    bytes: i64,
}

/// Missing arrivals of a state.
pub(crate) fn pending(state: u64) -> u32 {
    (state & MOST) as u32
}

impl State {
    fn unpack(bits: u64) -> Self {
        Self {
            odd: bits >> 63 != 0,
            pending: bits & MOST,
            expected: bits >> 20 & MOST,
            bytes: (bits << 2).cast_signed() >> 42,
        }
    }

    fn pack(self) -> u64 {
        let bytes = self.bytes.cast_unsigned() & ((1 << 22) - 1);
        u64::from(self.odd) << 63 | bytes << 40 | self.expected << 20 | self.pending
    }

    /// Begins the next phase if nothing is missing; tells whether it did.
    fn turn(&mut self) -> bool {
        let complete = self.pending == 0 && self.bytes == 0;
        if complete {
            self.odd = !self.odd;
            self.pending = self.expected;
        }
        complete
    }

    /// What an operation other than a wait makes of it; `None` for what the counts don't allow.
    fn after(self, kind: Kind, operand: u64) -> Option<Self> {
        let mut state = self;
        let bytes = match kind {
            Kind::ArriveExpecting { .. } | Kind::ExpectBytes => i64::try_from(operand).ok()?,
            Kind::CompleteBytes => -i64::try_from(operand).ok()?,
            _ => 0,
        };
        state.bytes += bytes;
        let (arrivals, drop) = match kind {
            Kind::Arrive { drop } => (operand, drop),
            Kind::ArriveExpecting { drop } => (1, drop),
            _ => (0, false),
        };
        state.pending = state.pending.checked_sub(arrivals)?;
        if drop {
            state.expected = state.expected.checked_sub(arrivals)?;
        }
        (state.bytes.unsigned_abs() < 1 << 20).then_some(state)
    }
}

impl Warp {
    /// Lane after lane. Tells whether all lanes of a wait still have to wait.
    pub(super) fn barrier_object<M: Mode>(
        &mut self,
        env: &mut Env<'_>,
        activation: &mut Activation,
        object: &BarrierObject,
        mask: u32,
        place: Place,
    ) -> Result<bool, Box<Fault>> {
        let request = Request::new(&activation.file, &object.address, object.space, 8, mask, place);
        let waits = matches!(object.kind, Kind::WaitState | Kind::WaitParity);
        let mut all = waits;
        if M::COUNT {
            env.counters.barriers += u64::from(!waits);
        }
        request.by_space(|request| {
            if request.space != Space::Shared {
                let lane = request.mask.trailing_zeros() as usize;
                return Err(request.fault(env, FaultKind::OutOfBounds { bytes: 8 }, lane));
            }
            request.inside(env, env.launch.shared_bytes)?;
            self.chain_access::<M>(env, request, if waits { Use::Read } else { Use::Both });
            for lane in lanes(request.mask) {
                let words = if object.kind == Kind::WaitState { WIDE } else { NARROW };
                let operand =
                    if object.operand == NONE { 1 } else { read_lane(&activation.file, object.operand, words, lane) };
                let one = request.lane(lane, object.kind != Kind::Init);
                let (result, words) = if waits {
                    let complete = self.try_wait(env, object.kind, operand, &one)?;
                    all &= !complete;
                    (complete.into(), 1)
                } else {
                    (self.change::<M>(env, object.kind, operand, &one)?, WIDE)
                };
                write_lane(&mut activation.file, object.d, words, lane, result);
            }
            Ok(())
        })?;
        Ok(all)
    }

    /// Bytes of a copy have come.
    pub(super) fn complete_bytes<M: Mode>(
        &self,
        env: &mut Env<'_>,
        bytes: u64,
        one: &LaneRequest,
    ) -> Result<(), Box<Fault>> {
        self.change::<M>(env, Kind::CompleteBytes, bytes, one).map(|_| ())
    }

    /// An operation other than a wait; the state before it.
    fn change<M: Mode>(
        &self,
        env: &mut Env<'_>,
        kind: Kind,
        operand: u64,
        one: &LaneRequest,
    ) -> Result<u64, Box<Fault>> {
        if M::CHECK {
            watch::shared_write(env, one, false)?;
        }
        let at = one.at as usize;
        let old = u64::from_le_bytes(std::array::from_fn(|i| env.shared_bytes()[at + i]));
        let new = match kind {
            Kind::Init => {
                let expected = (1..=MOST).contains(&operand).then_some(operand);
                expected.map(|expected| State { odd: false, pending: expected, expected, bytes: 0 })
            }
            Kind::Invalidate => env.objects.remove(&one.at).map(|_| State::unpack(0)),
            _ if !env.objects.contains_key(&one.at) => None,
            _ => State::unpack(old).after(kind, operand),
        };
        let Some(mut new) = new else {
            return Err(one.fault(env, FaultKind::BadBarrierObject { operand }));
        };
        if kind == Kind::Init {
            env.objects.insert(one.at, Known::default());
        } else if let Some(known) = env.objects.get_mut(&one.at) {
            let warp = one.place.warp as usize;
            env.clocks.advance(warp);
            merge(&mut known.arriving, env.clocks.row(warp));
            if new.turn() {
                known.complete = std::mem::take(&mut known.arriving);
            }
        }
        env.shared_bytes_mut()[at..at + 8].copy_from_slice(&new.pack().to_le_bytes());
        Ok(old)
    }

    /// Whether the phase that `operand` names (by a state of it, or by its parity) is complete.
    fn try_wait(&self, env: &mut Env<'_>, kind: Kind, operand: u64, one: &LaneRequest) -> Result<bool, Box<Fault>> {
        let Some(known) = env.objects.get(&one.at) else {
            return Err(one.fault(env, FaultKind::BadBarrierObject { operand }));
        };
        let odd = if kind == Kind::WaitParity { operand & 1 != 0 } else { State::unpack(operand).odd };
        let bytes = env.shared_bytes();
        let complete = odd != (bytes[one.at as usize + 7] >> 7 != 0);
        if complete {
            let clock = &known.complete;
            env.clocks.join(one.place.warp as usize, clock);
        }
        Ok(complete)
    }
}
