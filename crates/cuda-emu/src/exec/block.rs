//! A block: its warps take turns until all have exited.

use arith::random::Stream;

use super::barrier::Barriers;
use super::env::{Env, Mode, Place};
use super::run::Event;
use super::warp::Warp;
use crate::fault::{Fault, FaultKind};
use crate::lanes::LANES;

/// Instructions of a turn, unless a seed decides.
const TURN: u64 = 1 << 14;
/// Stream of the draws that decide turns.
const TURNS: u64 = 0x7475_726e;

/// Instructions after which a block that listens to others lets them run.
const STRETCH: u64 = 1 << 17;

/// The warps of a block, and whose turn it is. Blocks that run one after the other use it again.
#[derive(Default)]
pub(super) struct Workspace {
    warps: Vec<Warp>,
    barriers: Barriers,
    turns: Turns,
    /// Warps that wait or have exited.
    idle: Vec<bool>,
    next: usize,
}

/// Draws that decide who runs next and for how long: by seed, block and turn.
#[derive(Default)]
struct Turns {
    draws: Option<Stream>,
    turn: u64,
}

/// How a block ended its stretch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    Done,
    /// It may wait for other blocks.
    Paused,
}

impl Turns {
    fn draw(&mut self) -> Option<u64> {
        let draws = self.draws.as_ref()?;
        self.turn += 1;
        Some(draws.double_word(self.turn))
    }
}

impl Workspace {
    /// Begins the block that `env` is set up for.
    pub(super) fn begin(&mut self, env: &mut Env<'_>) -> Result<(), Box<Fault>> {
        let launch = env.launch;
        let threads = launch.threads_per_block();
        let count = threads.div_ceil(LANES as u32) as usize;
        self.barriers = Barriers::default();
        self.warps.resize_with(count, Warp::default);
        self.idle.clear();
        self.idle.resize(count, false);
        self.next = 0;
        let draws = launch.seed.map(|seed| Stream::new(seed ^ (u64::from(env.linear) << 32), TURNS));
        self.turns = Turns { draws, turn: 0 };
        env.counters.blocks += 1;
        for (index, warp) in self.warps.iter_mut().enumerate() {
            let index = index as u32;
            let lanes = (threads - index * LANES as u32).min(LANES as u32);
            let live = if lanes == 32 { u32::MAX } else { (1 << lanes) - 1 };
            warp.reset(index, live);
            warp.local.track(launch.uninitialised);
            if let Err(kind) = warp.enter(env, launch.kernel, live, 0, None) {
                let line = launch.program.functions[launch.kernel].line;
                return Err(env.fault(kind, Place { warp: index, function: launch.kernel, line }, 0));
            }
        }
        Ok(())
    }

    /// Goes on to the end of the block, or until it has run for long and may wait for other blocks.
    pub(super) fn proceed<M: Mode>(&mut self, env: &mut Env<'_>) -> Result<Progress, Box<Fault>> {
        let count = self.warps.len();
        let mut left = STRETCH;
        let listened = std::mem::replace(&mut env.listens, false);
        let mut next = self.next;
        loop {
            if self.idle.iter().all(|&idle| idle) {
                if self.barriers.open(env, &mut self.warps) {
                    self.idle.fill(false);
                    continue;
                }
                if self.warps.iter().all(|warp| warp.live == 0) {
                    self.count::<M>(env);
                    return Ok(Progress::Done);
                }
                return Err(self.deadlock(env));
            }
            if left == 0 && (env.listens || listened) {
                self.next = next;
                return Ok(Progress::Paused);
            }
            let mut budget = TURN;
            if let Some(draw) = self.turns.draw() {
                next = (draw >> 32) as usize % count;
                budget = 1 + draw % 64;
            }
            left = left.saturating_sub(budget);
            while self.idle[next] {
                next = (next + 1) % count;
            }
            match self.warps[next].run::<M>(env, budget)? {
                Event::Slice => {}
                Event::Barrier { barrier, activation, mask, line, function } => {
                    let place = Place { warp: next as u32, function, line };
                    self.barriers.arrive(env, &self.warps[next], activation, barrier, mask, place)?;
                    if self.barriers.open(env, &mut self.warps) {
                        self.idle.fill(false);
                    }
                    // The others first, so that all come to the barrier.
                    if self.turns.draws.is_some() || barrier.waits {
                        next = (next + 1) % count;
                    }
                    continue;
                }
                Event::Blocked => self.idle[next] = true,
                Event::Done => {
                    self.idle[next] = true;
                    // A barrier may have waited for this warp.
                    if self.barriers.open(env, &mut self.warps) {
                        self.idle.fill(false);
                    }
                }
            }
            next = (next + 1) % count;
        }
    }

    fn count<M: Mode>(&self, env: &mut Env<'_>) {
        if M::COUNT {
            let clocks = || self.warps.iter().map(|warp| warp.clock);
            let counters = &mut env.counters;
            counters.longest_warp = counters.longest_warp.max(clocks().max().unwrap_or(0));
            counters.longest_block = counters.longest_block.max(clocks().sum());
        }
    }

    /// Everyone waits: for lanes of their own warp, or for other warps.
    fn deadlock(&self, env: &Env<'_>) -> Box<Fault> {
        if let Some(fault) = self.warps.iter().find_map(|warp| warp.waiting(env)) {
            return fault;
        }
        let launch = env.launch;
        for warp in &self.warps {
            for (index, group) in warp.groups() {
                let Some(activation) = &warp.activations[index] else { continue };
                let code = &launch.program.functions[activation.function].code;
                let line = (group.pc as usize).checked_sub(1).and_then(|pc| code.get(pc)).map_or(0, |inst| inst.line);
                let place = Place { warp: warp.index, function: activation.function, line };
                return env.fault(FaultKind::Deadlock, place, group.mask.trailing_zeros().min(31) as usize);
            }
        }
        env.fault(FaultKind::Deadlock, Place { warp: 0, function: launch.kernel, line: 0 }, 0)
    }
}
