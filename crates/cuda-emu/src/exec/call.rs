//! Calls: new register files and frames, arguments in, results out.

use super::chain::Rows;
use super::env::{Env, Mode, Place};
use super::local::Local;
use super::poison::Poison;
use super::warp::{Activation, Group, State, Warp};
use crate::fault::{Fault, FaultKind};
use crate::lanes::{LANES, read_lane, write_lane};
use crate::memory::layout::FUNCTIONS;
use crate::program::{Call, Constant, Function, Slot, Special, Target};

/// Calls may be nested this deeply.
const DEPTH: u32 = 1 << 14;

impl Warp {
    /// Enters a function with these lanes. `frame` is where local memory is free.
    pub(super) fn enter(
        &mut self,
        env: &Env<'_>,
        function: usize,
        lanes: u32,
        frame: u64,
        parent: Option<(usize, u32)>,
    ) -> Result<usize, FaultKind> {
        let code = &env.launch.program.functions[function];
        let end = frame + code.frame;
        let depth = parent.map_or(0, |(_, depth)| depth + 1);
        if end > env.launch.stack_bytes || depth > DEPTH {
            return Err(FaultKind::StackOverflow);
        }
        self.local.reserve(end);
        self.local.forget(frame, end);
        let mut file = match self.spare.iter().position(|(of, _)| *of == function) {
            Some(position) => self.spare.swap_remove(position).1,
            None => Vec::new(),
        };
        file.clone_from(&env.launch.files[function]);
        self.fill(env, code, &mut file, frame);
        let group = Group { pc: 0, mask: lanes, state: State::Ready };
        let activation = Activation {
            function,
            file,
            groups: vec![group],
            frame,
            end,
            own_end: end,
            parent: parent.map(|(p, _)| p),
            depth,
            poison: Poison::default(),
            chain: Rows::default(),
        };
        // The caller's own place looks free while it runs.
        let caller = parent.map(|(index, _)| index);
        let free = (0..self.activations.len()).find(|&i| self.activations[i].is_none() && Some(i) != caller);
        let index = free.unwrap_or(self.activations.len());
        if free.is_none() {
            self.activations.push(None);
        }
        self.activations[index] = Some(activation);
        Ok(index)
    }

    /// Addresses in the frame, and special registers.
    fn fill(&self, env: &Env<'_>, code: &Function, file: &mut [u64], frame: u64) {
        for constant in &code.constants {
            if let Constant::Frame { offset } = constant.value {
                let address = frame.wrapping_add_signed(offset);
                for lane in 0..LANES {
                    write_lane(file, constant.row, constant.words, lane, address);
                }
            }
        }
        let launch = env.launch;
        for special in &code.specials {
            for lane in 0..LANES {
                let thread = self.index * LANES as u32 + lane as u32;
                let eq = 1_u32 << lane;
                let value = match special.value {
                    Special::Thread(i) => launch.thread_index(thread)[i],
                    Special::Threads(i) => launch.threads[i],
                    Special::Block(i) => env.block[i],
                    Special::Blocks(i) => launch.blocks[i],
                    Special::Lane => lane as u32,
                    Special::Warp => self.index,
                    Special::Warps => launch.threads_per_block().div_ceil(LANES as u32),
                    Special::Grid => launch.grid as u32,
                    Special::MaskEq => eq,
                    Special::MaskLt => eq - 1,
                    Special::MaskLe => eq | (eq - 1),
                    Special::MaskGt => !(eq | (eq - 1)),
                    Special::MaskGe => !(eq - 1),
                    Special::Dynamic => launch.dynamic_bytes as u32,
                    Special::Shared => launch.shared_bytes as u32,
                    Special::Fixed(value) => value,
                };
                write_lane(file, special.row, special.words, lane, value.into());
            }
        }
    }

    /// The lanes of `mask` call; `caller` is the call they are in, whose place in the list is `from`.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn call<M: Mode>(
        &mut self,
        env: &mut Env<'_>,
        caller: &mut Activation,
        from: usize,
        call: &Call,
        mask: u32,
        place: Place,
    ) -> Result<Called, Box<Fault>> {
        let first = mask.trailing_zeros() as usize;
        let mut lanes = mask;
        let function = match call.target {
            Target::Function(function) => function,
            Target::Pointer(row) => {
                // Lanes that call the same function go together; the others come back for theirs.
                let address = read_lane(&caller.file, row, crate::lanes::WIDE, first);
                for lane in first..LANES {
                    if mask >> lane & 1 != 0 && read_lane(&caller.file, row, crate::lanes::WIDE, lane) != address {
                        lanes &= !(1 << lane);
                    }
                }
                let function = address.checked_sub(FUNCTIONS).filter(|at| at % 16 == 0).map(|at| at / 16);
                let function = function.and_then(|at| usize::try_from(at).ok());
                let functions = &env.launch.program.functions;
                match function.and_then(|at| Some((at, functions.get(at)?))) {
                    Some((at, code)) if code.takes(call) => at,
                    _ => return Err(env.fault(FaultKind::BadCall { address }, place, first)),
                }
            }
        };
        let code = &env.launch.program.functions[function];
        if code.external {
            self.builtin(env, caller, function, call, lanes, place)?;
            return Ok(Called { lanes, inside: None });
        }
        let inside = self
            .enter(env, function, lanes, caller.end, Some((from, caller.depth)))
            .map_err(|kind| env.fault(kind, place, first))?;
        if let Some(callee) = &mut self.activations[inside] {
            for (given, wanted) in call.arguments.iter().zip(&code.parameters) {
                pass(&mut self.local, caller, *given, callee, *wanted, lanes);
            }
        }
        Ok(Called { lanes, inside: Some(inside) })
    }

    /// All lanes of a call have returned or exited: results go back, and the caller goes on. Tells what to look at
    /// next: a caller that has nobody left.
    pub(super) fn finish(&mut self, env: &Env<'_>, index: usize) {
        let mut index = index;
        loop {
            let Some(mut callee) = self.activations[index].take() else { return };
            let Some(parent) = callee.parent else {
                self.spare.push((callee.function, callee.file));
                return;
            };
            let Some(mut caller) = self.activations[parent].take() else { return };
            let position =
                caller.groups.iter().position(|group| matches!(group.state, State::Calling(i) if i == index));
            if let Some(position) = position {
                let functions = &env.launch.program.functions;
                let group = &mut caller.groups[position];
                let (pc, mask) = (group.pc as usize, group.mask);
                group.state = State::Ready;
                group.pc += 1;
                if let Some(crate::program::Op::Call(call)) =
                    functions[caller.function].code.get(pc).map(|inst| &inst.op)
                {
                    for (given, wanted) in functions[callee.function].returns.iter().zip(&call.returns) {
                        pass(&mut self.local, &mut callee, *given, &mut caller, *wanted, mask);
                    }
                }
                if mask == 0 {
                    caller.groups.swap_remove(position);
                }
            }
            self.spare.push((callee.function, callee.file));
            let done = caller.groups.is_empty();
            self.activations[parent] = Some(caller);
            if !done {
                return;
            }
            index = parent;
        }
    }
}

/// What came of a call.
pub(super) struct Called {
    /// The lanes that called.
    pub(super) lanes: u32,
    /// The call that they are in now; none for what was done at once.
    pub(super) inside: Option<usize>,
}

/// Copies a value from one call's slot to another's.
fn pass(local: &mut Local, from: &mut Activation, given: Slot, to: &mut Activation, wanted: Slot, mask: u32) {
    let stride = local.stride;
    let length = match given {
        Slot::Register { row, .. } => from.chain.of(row),
        Slot::Frame { offset, bytes } => local.chain.of(from.frame + offset, bytes),
    };
    match wanted {
        // Chains aren't followed.
        _ if length == 0 => {}
        Slot::Register { row, .. } => to.chain.set(row, mask == u32::MAX, length),
        Slot::Frame { offset, bytes } => local.chain.set(to.frame + offset, bytes, length),
    }
    for lane in (0..LANES).filter(|lane| mask >> lane & 1 != 0) {
        let base = lane as u64 * stride;
        match (given, wanted) {
            (Slot::Frame { offset: g, bytes }, Slot::Frame { offset: w, bytes: room }) => {
                let (source, target) = ((base + from.frame + g) as usize, (base + to.frame + w) as usize);
                let length = bytes.min(room) as usize;
                local.copy(source, target, length);
            }
            (Slot::Register { row, words }, Slot::Frame { offset, bytes }) => {
                let value = read_lane(&from.file, row, words, lane).to_le_bytes();
                let target = (base + to.frame + offset) as usize;
                let length = bytes.min(8) as usize;
                local.write(target, &value[..length]);
            }
            (Slot::Frame { offset, bytes }, Slot::Register { row, words }) => {
                let source = (base + from.frame + offset) as usize;
                let length = bytes.min(8) as usize;
                let mut value = [0; 8];
                value[..length].copy_from_slice(&local.bytes()[source..source + length]);
                write_lane(&mut to.file, row, words, lane, u64::from_le_bytes(value));
            }
            (Slot::Register { row: g, words }, Slot::Register { row: w, words: room }) => {
                let value = read_lane(&from.file, g, words, lane);
                write_lane(&mut to.file, w, room, lane, value);
            }
        }
    }
}
