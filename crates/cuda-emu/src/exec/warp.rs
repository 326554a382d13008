//! A warp: calls that are going on, and in each the groups of lanes that are together.

use super::chain::{Chain, Rows};
use super::local::Local;
use super::poison::Poison;
use crate::program::Reduce;

/// Lanes at one place of one call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    pub(super) pc: u32,
    pub(super) mask: u32,
    pub(super) state: State,
}

/// What a group is doing.
#[derive(Clone, Copy, Debug)]
pub(super) enum State {
    Ready,
    /// Waits for these lanes to come to the same instruction; `barrier` says whether that is a barrier.
    Pending {
        members: u32,
        barrier: bool,
    },
    /// At `bar.warp.sync`, wherever the others are.
    WarpSync {
        members: u32,
    },
    /// Has arrived at a barrier of the block; its next instruction is behind it.
    AtBarrier {
        id: u32,
        reduce: Option<Reduce>,
    },
    /// In a call.
    Calling(usize),
}

/// A call, or the kernel itself.
#[derive(Debug)]
pub(super) struct Activation {
    pub(super) function: usize,
    pub(super) file: Vec<u64>,
    pub(super) groups: Vec<Group>,
    /// Where its frame begins and ends in local memory.
    pub(super) frame: u64,
    pub(super) end: u64,
    /// Where it ends without what `alloca` took.
    pub(super) own_end: u64,
    /// The call that it was made from.
    pub(super) parent: Option<usize>,
    pub(super) depth: u32,
    /// Values of registers that come from memory that nothing wrote.
    pub(super) poison: Poison,
    /// Lengths of the chains that its registers end.
    pub(super) chain: Rows,
}

/// A warp.
#[derive(Debug, Default)]
pub(super) struct Warp {
    pub(super) index: u32,
    /// Lanes that haven't exited.
    pub(super) live: u32,
    /// Calls; holes are free places.
    pub(super) activations: Vec<Option<Activation>>,
    /// Register files for reuse, by function.
    pub(super) spare: Vec<(usize, Vec<u64>)>,
    pub(super) local: Local,
    /// Instructions so far.
    pub(super) clock: u64,
    /// The region that was accessed last.
    pub(super) hint: usize,
    /// Instructions of turns that were used up, since another group than the first had one. Who gives a turn up has
    /// used more of it.
    pub(super) patience: u64,
    /// How often another group than the first has had a turn.
    pub(super) others: usize,
    pub(super) chain: Chain,
}

/// Instructions after which another group has a turn. Many, since lanes that run ahead meet the others later.
const PATIENCE: u64 = 1 << 18;
/// What giving up a turn counts for.
pub(super) const YIELD: u64 = PATIENCE / 16;

impl Warp {
    /// Makes it ready for a block. Register files and local memory are kept for reuse.
    pub(super) fn reset(&mut self, index: u32, live: u32) {
        self.index = index;
        self.live = live;
        self.clock = 0;
        self.patience = 0;
        self.others = 0;
        self.chain = Chain::default();
        self.local.chain.clear();
        for activation in self.activations.drain(..).flatten() {
            self.spare.push((activation.function, activation.file));
        }
    }

    /// The deepest call with a group that can run, and the group that is farthest behind. Groups that stand at one
    /// place become one.
    pub(super) fn pick(&mut self) -> Option<(usize, usize)> {
        let mut best: Option<(u32, usize)> = None;
        for (i, activation) in self.activations.iter().enumerate() {
            let Some(activation) = activation else { continue };
            let ready = activation.groups.iter().any(|group| matches!(group.state, State::Ready));
            if ready && best.is_none_or(|(depth, _)| activation.depth > depth) {
                best = Some((activation.depth, i));
            }
        }
        let (_, index) = best?;
        let groups = &mut self.activations[index].as_mut()?.groups;
        let mut first: Option<usize> = None;
        let mut i = 0;
        while i < groups.len() {
            if matches!(groups[i].state, State::Ready) {
                match first {
                    Some(f) if groups[f].pc == groups[i].pc => {
                        groups[f].mask |= groups[i].mask;
                        groups.remove(i);
                        continue;
                    }
                    Some(f) if groups[f].pc < groups[i].pc => {}
                    _ => first = Some(i),
                }
            }
            i += 1;
        }
        first.map(|first| (index, first))
    }

    /// Every now and then a group that isn't the first, each in its turn: the first may wait in a loop for what another
    /// lane of the warp has yet to do.
    pub(super) fn pick_other(&mut self) -> Option<(usize, usize)> {
        if self.patience < PATIENCE {
            return None;
        }
        self.patience = 0;
        let ready: Vec<(usize, usize)> = self
            .activations
            .iter()
            .enumerate()
            .filter_map(|(i, activation)| Some((i, activation.as_ref()?)))
            .flat_map(|(i, activation)| activation.groups.iter().enumerate().map(move |(g, group)| ((i, g), group)))
            .filter(|(_, group)| matches!(group.state, State::Ready))
            .map(|(place, _)| place)
            .collect();
        if ready.len() < 2 {
            return None;
        }
        self.others += 1;
        Some(ready[self.others % ready.len()])
    }

    /// Lanes exit: they leave every call.
    pub(super) fn exit(&mut self, lanes: u32) {
        self.live &= !lanes;
        for activation in self.activations.iter_mut().flatten() {
            for group in &mut activation.groups {
                group.mask &= !lanes;
            }
        }
    }

    /// When nothing can run: lets groups go on whose members have all come or exited. Tells whether any can.
    pub(super) fn release(&mut self) -> bool {
        let live = self.live;
        let mut waiting = 0;
        for group in self.activations.iter().flatten().flat_map(|activation| &activation.groups) {
            if matches!(group.state, State::WarpSync { .. }) {
                waiting |= group.mask;
            }
        }
        let mut any = false;
        for group in self.activations.iter_mut().flatten().flat_map(|activation| &mut activation.groups) {
            match group.state {
                State::Pending { members, .. } if members & live & !group.mask == 0 => {
                    group.state = State::Ready;
                    any = true;
                }
                State::WarpSync { members } if members & live & !waiting == 0 => {
                    group.state = State::Ready;
                    group.pc += 1;
                    any = true;
                }
                _ => {}
            }
        }
        any
    }

    /// All groups, with the index of their call.
    pub(super) fn groups(&self) -> impl Iterator<Item = (usize, &Group)> {
        self.activations
            .iter()
            .enumerate()
            .filter_map(|(i, activation)| Some((i, activation.as_ref()?)))
            .flat_map(|(i, activation)| activation.groups.iter().map(move |group| (i, group)))
    }
}
