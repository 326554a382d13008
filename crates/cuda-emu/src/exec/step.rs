//! Instructions that do more than compute.

use super::env::{Env, Mode, Place};
use super::warp::{Activation, Group, State, Warp};
use crate::fault::{Fault, FaultKind};
use crate::lanes::{LANES, NARROW, NONE, read_lane, write_lane};
use crate::program::{Barrier, Inst, Op};

/// How a group goes on.
pub(super) enum Next<'l> {
    /// At its position.
    Go,
    /// Others part from it.
    Part(Group),
    /// Its state says what for.
    Wait,
    /// After other warps.
    Yield,
    /// It has no lanes any more.
    Ended,
    /// These lanes exit.
    Exit(u32),
    /// These lanes have come to a barrier of the block.
    Barrier(&'l Barrier, u32),
}

impl Warp {
    /// One instruction with the lanes of `mask`, at least one.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn step<'l, M: Mode>(
        &mut self,
        env: &mut Env<'l>,
        activation: &mut Activation,
        index: usize,
        group: &mut Group,
        inst: &'l Inst,
        mask: u32,
        place: Place,
    ) -> Result<Next<'l>, Box<Fault>> {
        match &inst.op {
            Op::Load(access) => self.load::<M>(env, activation, access, mask, place)?,
            Op::Store(access) => self.store::<M>(env, activation, access, mask, place)?,
            Op::Atomic(atomic) => self.atomic::<M>(env, activation, atomic, mask, place)?,
            Op::CopyAsync(copy) => self.copy_async::<M>(env, activation, copy, mask, place)?,
            Op::CopyBulk(copy) => self.copy_bulk::<M>(env, activation, copy, mask, place)?,
            Op::Branch(target) => return Ok(branch::<M>(env, group, *target, mask)),
            Op::Switch { index, targets } => {
                return self.switch::<M>(env, activation, group, *index, targets, mask, place);
            }
            Op::Return => {
                if activation.parent.is_none() {
                    return Ok(Next::Exit(mask));
                }
                // Lanes that return wait in the caller, whose group still has them.
                group.mask &= !mask;
                if group.mask == 0 {
                    return Ok(Next::Ended);
                }
            }
            Op::Exit => return Ok(Next::Exit(mask)),
            Op::Trap => return Err(env.fault(FaultKind::Trap, place, mask.trailing_zeros() as usize)),
            Op::Call(call) => {
                let called = self.call::<M>(env, activation, index, call, mask, place)?;
                if called.inside.is_none() && called.lanes == group.mask {
                    group.pc += 1;
                    return Ok(Next::Go);
                }
                let rest = group.mask & !called.lanes;
                let state = called.inside.map_or(State::Ready, State::Calling);
                let pc = if called.inside.is_some() { group.pc } else { group.pc + 1 };
                // Lanes that call another function try again; those whose guard is false go past.
                let again = mask & !called.lanes;
                let past = rest & !again;
                if past != 0 {
                    activation.groups.push(Group { pc: group.pc + 1, mask: past, state: State::Ready });
                }
                if again != 0 {
                    activation.groups.push(Group { pc: group.pc, mask: again, state: State::Ready });
                }
                *group = Group { pc, mask: called.lanes, state };
                return Ok(Next::Wait);
            }
            Op::Barrier(barrier) => {
                let live = self.live;
                let mask = if barrier.aligned {
                    match converge(activation, group, mask, live, live, true) {
                        Ok(together) => together,
                        Err(next) => return Ok(next),
                    }
                } else {
                    mask
                };
                self.arrive(env, activation, group, barrier, mask, place)?;
                return Ok(Next::Barrier(barrier, mask));
            }
            Op::WarpSync(members) => {
                let members = self.members(env, activation, *members, mask, place)?.1;
                if members & self.live & !mask != 0 {
                    split(activation, group, mask);
                    group.state = State::WarpSync { members };
                    return Ok(Next::Wait);
                }
                if M::CHECK {
                    env.clocks.meet(self.index as usize);
                }
            }
            Op::Exchange(exchange) => {
                let (mut each, all) = self.members(env, activation, exchange.members, mask, place)?;
                let together = match converge(activation, group, mask, all, self.live, false) {
                    Ok(together) => together,
                    Err(next) => return Ok(next),
                };
                if together != mask {
                    each = self.members(env, activation, exchange.members, together, place)?.0;
                }
                super::exchange::exchange(&mut activation.file, exchange, &each, together);
            }
            Op::LoadMatrix(load) => {
                if let Err(next) = converge(activation, group, mask, u32::MAX, self.live, false) {
                    return Ok(next);
                }
                self.load_matrix::<M>(env, activation, load, place)?;
            }
            Op::Multiply(multiply) => {
                if let Err(next) = converge(activation, group, mask, u32::MAX, self.live, false) {
                    return Ok(next);
                }
                super::product::multiply(&mut activation.file, multiply);
            }
            Op::MoveFragment(moved) => {
                if let Err(next) = converge(activation, group, mask, u32::MAX, self.live, false) {
                    return Ok(next);
                }
                self.move_fragment::<M>(env, activation, moved, place)?;
            }
            Op::TransposeMatrix(d, a) => {
                if let Err(next) = converge(activation, group, mask, u32::MAX, self.live, false) {
                    return Ok(next);
                }
                super::matrix::transpose(&mut activation.file, *d, *a);
            }
            Op::BarrierObject(object) => {
                if self.barrier_object::<M>(env, activation, object, mask, place)? {
                    // Who waits lets others run.
                    group.pc += 1;
                    return Ok(Next::Yield);
                }
            }
            &Op::Allocate { d, bytes, align } => self.allocate(env, activation, (d, bytes, align), mask, place)?,
            &Op::SaveStack { d, words } => {
                for lane in lanes(mask) {
                    write_lane(&mut activation.file, d, words, lane, activation.end);
                }
            }
            &Op::RestoreStack { a, words } => {
                let all = activation.groups.iter().fold(group.mask, |all, other| all | other.mask);
                Self::restore_stack(activation, (a, words), mask, all);
            }
            Op::ActiveMask(d) => {
                for lane in lanes(mask) {
                    write_lane(&mut activation.file, *d, NARROW, lane, mask.into());
                }
            }
            Op::Fence { wide } => {
                if M::CHECK {
                    env.publish(self.index);
                    if *wide && let Some(shadow) = &env.launch.shadow {
                        shadow.fence(env.linear);
                    }
                }
            }
            Op::Clock { d, words, high } => {
                let value = if *high { self.clock >> 32 } else { self.clock };
                for lane in 0..LANES {
                    write_lane(&mut activation.file, *d, *words, lane, value);
                }
            }
            Op::Yield => {
                group.pc += 1;
                return Ok(Next::Yield);
            }
            Op::Nop | Op::Compute(..) => {}
        }
        group.pc += 1;
        Ok(Next::Go)
    }

    /// The members that each lane names, and all of them together.
    fn members(
        &self,
        env: &Env<'_>,
        activation: &Activation,
        row: u32,
        mask: u32,
        place: Place,
    ) -> Result<([u32; LANES], u32), Box<Fault>> {
        let mut each = [0; LANES];
        let mut all = 0;
        for lane in lanes(mask) {
            let members = if row == NONE { mask } else { read_lane(&activation.file, row, NARROW, lane) as u32 };
            if members >> lane & 1 == 0 {
                return Err(env.fault(FaultKind::NotAMember { members }, place, lane));
            }
            each[lane] = members;
            all |= members;
        }
        Ok((each, all))
    }

    #[allow(clippy::too_many_arguments)]
    fn switch<'l, M: Mode>(
        &self,
        env: &mut Env<'l>,
        activation: &mut Activation,
        group: &mut Group,
        index: u32,
        targets: &[u32],
        mask: u32,
        place: Place,
    ) -> Result<Next<'l>, Box<Fault>> {
        let mut parts: Vec<(u32, u32)> = Vec::new();
        let past = group.mask & !mask;
        if past != 0 {
            parts.push((group.pc + 1, past));
        }
        for lane in lanes(mask) {
            let chosen = read_lane(&activation.file, index, NARROW, lane) as u32;
            let Some(&target) = targets.get(chosen as usize) else {
                return Err(env.fault(FaultKind::BadBranch { index: chosen }, place, lane));
            };
            match parts.iter_mut().find(|(pc, _)| *pc == target) {
                Some((_, lanes)) => *lanes |= 1 << lane,
                None => parts.push((target, 1 << lane)),
            }
        }
        if M::COUNT && parts.len() > 1 {
            env.counters.divergent_branches += 1;
        }
        let single = parts.len() == 1;
        for (pc, mask) in parts.drain(1..) {
            activation.groups.push(Group { pc, mask, state: State::Ready });
        }
        (group.pc, group.mask) = parts[0];
        Ok(if single { Next::Go } else { Next::Wait })
    }
}

/// Lanes of a mask.
pub(super) fn lanes(mask: u32) -> impl Iterator<Item = usize> {
    let mut left = mask;
    std::iter::from_fn(move || {
        if left == 0 {
            return None;
        }
        let lane = left.trailing_zeros() as usize;
        left &= left - 1;
        Some(lane)
    })
}

fn branch<'l, M: Mode>(env: &mut Env<'_>, group: &mut Group, target: u32, mask: u32) -> Next<'l> {
    if mask == group.mask {
        group.pc = target;
        return Next::Go;
    }
    if M::COUNT {
        env.counters.divergent_branches += 1;
    }
    group.mask &= !mask;
    group.pc += 1;
    Next::Part(Group { pc: target, mask, state: State::Ready })
}

/// Lets the lanes outside `mask` go past the instruction.
pub(super) fn split(activation: &mut Activation, group: &mut Group, mask: u32) {
    let past = group.mask & !mask;
    if past != 0 {
        activation.groups.push(Group { pc: group.pc + 1, mask: past, state: State::Ready });
        group.mask = mask;
    }
}

/// Brings together the lanes at this instruction, those of `mask` and those that wait here already. Gives all of them
/// when no living member is missing.
fn converge<'l>(
    activation: &mut Activation,
    group: &mut Group,
    mask: u32,
    members: u32,
    live: u32,
    barrier: bool,
) -> Result<u32, Next<'l>> {
    if members & live & !mask == 0 {
        return Ok(mask);
    }
    split(activation, group, mask);
    let mut members = members;
    let pc = group.pc;
    activation.groups.retain(|other| match other.state {
        State::Pending { members: theirs, .. } if other.pc == pc => {
            group.mask |= other.mask;
            members |= theirs;
            false
        }
        _ => true,
    });
    if members & live & !group.mask == 0 {
        return Ok(group.mask);
    }
    group.state = State::Pending { members, barrier };
    Err(Next::Wait)
}
