//! A warp's turn: groups run until something outside has to happen.

use super::env::{Env, Mode, Place};
use super::step::Next;
use super::warp::{Group, State, Warp, YIELD};
use crate::fault::{Fault, FaultKind};
use crate::lanes::NONE;
use crate::program::Barrier;

/// Why a turn ended.
pub(super) enum Event<'l> {
    /// The turn's instructions are used up.
    Slice,
    /// Lanes have come to a barrier of the block.
    Barrier { barrier: &'l Barrier, activation: usize, mask: u32, line: u32, function: usize },
    /// Everyone waits for the block.
    Blocked,
    /// All lanes have exited.
    Done,
}

impl Warp {
    /// Runs for at most `budget` instructions.
    pub(super) fn run<'l, M: Mode>(&mut self, env: &mut Env<'l>, budget: u64) -> Result<Event<'l>, Box<Fault>> {
        let mut left = budget;
        if let Some((index, group)) = self.pick_other()
            && let Some(event) = self.run_group::<M>(env, index, group, &mut left, true)?
        {
            return Ok(event);
        }
        loop {
            let Some((index, group)) = self.pick() else {
                if self.release() {
                    // Lanes that have met are ordered.
                    env.clocks.meet(self.index as usize);
                    continue;
                }
                return self.stuck(env);
            };
            if left == 0 {
                self.patience += budget;
                return Ok(Event::Slice);
            }
            if let Some(event) = self.run_group::<M>(env, index, group, &mut left, false)? {
                return Ok(event);
            }
        }
    }

    /// Nobody can run: because all have exited, because the block has to let them go on, or for ever.
    fn stuck<'l>(&self, env: &Env<'l>) -> Result<Event<'l>, Box<Fault>> {
        if self.live == 0 {
            return Ok(Event::Done);
        }
        let waits = self.groups().any(|(_, group)| matches!(group.state, State::AtBarrier { .. }));
        if waits {
            return Ok(Event::Blocked);
        }
        match self.waiting(env) {
            Some(fault) => Err(fault),
            // Every live lane is in some group; without one there is nothing to run.
            None => Ok(Event::Done),
        }
    }

    /// The fault of the first group that waits inside the warp.
    pub(super) fn waiting(&self, env: &Env<'_>) -> Option<Box<Fault>> {
        let functions = &env.launch.program.functions;
        self.groups().find_map(|(index, group)| {
            let function = self.activations[index].as_ref()?.function;
            let line = functions[function].code.get(group.pc as usize).map_or(0, |inst| inst.line);
            let place = Place { warp: self.index, function, line };
            let kind = match group.state {
                State::Pending { barrier: true, .. } => {
                    FaultKind::DivergentBarrier { arrived: group.mask, live: self.live }
                }
                State::Pending { members, .. } | State::WarpSync { members } => {
                    FaultKind::DivergentExchange { arrived: group.mask, members }
                }
                _ => return None,
            };
            Some(env.fault(kind, place, group.mask.trailing_zeros().min(31) as usize))
        })
    }

    /// Runs one group until it parts, ends, waits or, unless it runs `ahead`, catches up with another one.
    fn run_group<'l, M: Mode>(
        &mut self,
        env: &mut Env<'l>,
        index: usize,
        group: usize,
        left: &mut u64,
        ahead: bool,
    ) -> Result<Option<Event<'l>>, Box<Fault>> {
        let Some(mut activation) = self.activations[index].take() else { return Ok(None) };
        let mut group = activation.groups.swap_remove(group);
        let mut stop = u32::MAX;
        for other in &activation.groups {
            if !ahead && matches!(other.state, State::Ready) {
                stop = stop.min(other.pc);
            }
        }
        let function = activation.function;
        let code = &env.launch.program.functions[function].code;
        let mut event = None;
        loop {
            if group.pc >= stop || *left == 0 {
                activation.groups.push(group);
                break;
            }
            let inst = &code[group.pc as usize];
            let mut mask = group.mask;
            if inst.guard != NONE {
                let guard = activation.file[inst.guard as usize] as u32;
                mask &= if inst.negated { !guard } else { guard };
            }
            if inst.counted {
                *left -= 1;
                self.clock += 1;
                if M::COUNT {
                    env.counters.instructions += 1;
                    env.counters.lane_instructions += u64::from(mask.count_ones());
                }
                if self.clock > env.launch.step_limit {
                    let place = Place { warp: self.index, function, line: inst.line };
                    let steps = env.launch.step_limit;
                    return Err(env.fault(
                        FaultKind::StepLimit { steps },
                        place,
                        mask.trailing_zeros().min(31) as usize,
                    ));
                }
            }
            if M::CHECK && !activation.poison.is_empty() {
                let place = Place { warp: self.index, function, line: inst.line };
                activation.follow(env, inst, (group.mask, mask), place)?;
            }
            let chains = M::CHECK && env.launch.chain.is_some();
            if M::CHECK
                && let Some(following) = &env.launch.chain
            {
                self.chain_begin(following, &activation.chain, inst);
            }
            if let crate::program::Op::Compute(exec, args) = &inst.op {
                if mask != 0 {
                    // SAFETY: operations were picked for the instruction set of this machine.
                    unsafe { exec(&mut activation.file, args, mask) };
                }
                if chains {
                    self.chain_end(env, &mut activation.chain, inst, mask);
                }
                group.pc += 1;
                continue;
            }
            if mask == 0 {
                if chains {
                    self.chain_end(env, &mut activation.chain, inst, mask);
                }
                group.pc += 1;
                continue;
            }
            let place = Place { warp: self.index, function, line: inst.line };
            let next = self.step::<M>(env, &mut activation, index, &mut group, inst, mask, place)?;
            if chains {
                self.chain_end(env, &mut activation.chain, inst, mask);
            }
            match next {
                Next::Go => {}
                Next::Part(other) => {
                    activation.groups.push(group);
                    activation.groups.push(other);
                    break;
                }
                Next::Wait => {
                    activation.groups.push(group);
                    break;
                }
                Next::Yield => {
                    self.patience += YIELD;
                    *left = 0;
                }
                Next::Ended => break,
                Next::Exit(lanes) => {
                    self.exit(lanes);
                    for other in &mut activation.groups {
                        other.mask &= !lanes;
                    }
                    group.mask &= !lanes;
                    if group.mask != 0 {
                        group.pc += 1;
                        activation.groups.push(group);
                    }
                    break;
                }
                Next::Barrier(barrier, lanes) => {
                    event = Some(Event::Barrier { barrier, activation: index, mask: lanes, line: inst.line, function });
                    activation.groups.push(group);
                    break;
                }
            }
        }
        activation.groups.retain(|group: &Group| group.mask != 0 || matches!(group.state, State::Calling(_)));
        let done = activation.groups.is_empty();
        self.activations[index] = Some(activation);
        if done {
            self.finish(env, index);
        }
        Ok(event)
    }
}
