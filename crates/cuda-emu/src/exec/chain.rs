//! The longest chain of instructions each of which needs the one before.
//!
//! An instruction starts when all is there that it needs: what its registers and the memory that it reads have from the
//! instructions that wrote them; its guard; the branch, the barrier or the wait for lanes that its warp had to get past. What
//! it gives is there some time later, which is the length of the chain that ends with it. As on hardware, a register is ready
//! for a whole warp at once, and lanes that have parted get past branches together. Memory is followed in units of two bytes;
//! what was there before the launch has no length. Each lane's atomic operation needs the one before on the same bytes.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use super::env::{Env, Mode};
use super::request::Request;
use super::step::lanes;
use super::warp::Warp;
use crate::device::Chains;
use crate::lanes::NONE;
use crate::program::{Fragment, Inst, Op, Slot, Target};
use crate::types::Space;

/// Bytes of memory that have one length.
const UNIT: u64 = 2;

/// Lengths by the first word of a row of registers.
#[derive(Clone, Debug, Default)]
pub(super) struct Rows(HashMap<u32, u64>);

impl Rows {
    pub(super) fn of(&self, row: u32) -> u64 {
        self.0.get(&row).copied().unwrap_or(0)
    }

    /// `whole` says that no lane keeps what the row had.
    pub(super) fn set(&mut self, row: u32, whole: bool, length: u64) {
        if row == NONE {
            return;
        }
        let known = self.0.entry(row).or_default();
        *known = if whole { length } else { length.max(*known) };
    }
}

/// Lengths by address in one space.
#[derive(Clone, Debug, Default)]
pub(super) struct Units(HashMap<u64, u64>);

impl Units {
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    pub(super) fn forget(&mut self, start: u64, end: u64) {
        if !self.0.is_empty() {
            self.0.retain(|unit, _| !(start..end).contains(&(unit * UNIT)));
        }
    }

    /// The greatest of these bytes.
    pub(super) fn of(&self, at: u64, bytes: u64) -> u64 {
        (at / UNIT..(at + bytes).div_ceil(UNIT)).filter_map(|unit| self.0.get(&unit)).max().copied().unwrap_or(0)
    }

    /// A single byte leaves its unit what the other one may have.
    pub(super) fn set(&mut self, at: u64, bytes: u64, length: u64) {
        let length = if bytes < UNIT { length.max(self.of(at, bytes)) } else { length };
        self.0.extend((at / UNIT..(at + bytes).div_ceil(UNIT)).map(|unit| (unit, length)));
    }
}

/// What a launch follows.
#[derive(Debug)]
pub(super) struct Following {
    lengths: Chains,
    global: Mutex<Units>,
}

impl Following {
    pub(super) fn new(lengths: Chains) -> Self {
        Self { lengths, global: Mutex::default() }
    }
}

/// Where a warp is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Chain {
    /// When the instruction that runs started.
    start: u64,
    /// When the first instruction of this basic block could start, how many have started since, and when another one can after
    /// the last of them. Where blocks aren't in order all stay 0.
    block: u64,
    started: u64,
    last: u64,
    /// Length of the chain that the instruction ends.
    pub(super) length: u64,
    /// Length of the last branch, barrier or wait that it got past.
    pub(super) past: u64,
}

/// How an instruction accesses memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    Read,
    Write,
    /// Each lane reads and writes at once.
    Both,
}

impl Warp {
    /// Before an instruction: what it needs of registers.
    #[cold]
    pub(super) fn chain_begin(&mut self, following: &Following, rows: &Rows, inst: &Inst) {
        let mut start = self.chain.past;
        let mut needs = |row: u32| start = start.max(rows.of(row));
        needs(inst.guard);
        reads(&inst.op, &mut needs);
        let lengths = &following.lengths;
        if lengths.in_order {
            start = start.max(self.chain.block);
            let counted = u64::from(inst.counted);
            self.chain.last = self.chain.last.max(start + counted);
            self.chain.started += counted;
        }
        self.chain.start = start;
        // A step of an instruction takes no time of its own.
        self.chain.length = start + u64::from(if inst.counted { lengths.operation } else { 0 });
    }

    /// While it runs: memory that it accesses.
    #[inline(always)]
    pub(super) fn chain_access<M: Mode>(&mut self, env: &mut Env<'_>, request: &Request, how: Use) {
        if M::CHECK && env.launch.chain.is_some() {
            self.follow_access(env, request, how);
        }
    }

    #[cold]
    fn follow_access(&mut self, env: &mut Env<'_>, request: &Request, how: Use) {
        let Some(Following { lengths, global }) = &env.launch.chain else { return };
        let mut locked;
        let (units, takes) = match request.space {
            Space::Shared => (&mut env.chain, lengths.shared),
            Space::Local => (&mut self.local.chain, lengths.global),
            Space::Param => return,
            Space::Global | Space::Const | Space::Generic => {
                locked = global.lock().unwrap_or_else(PoisonError::into_inner);
                (&mut *locked, lengths.global)
            }
        };
        let (bytes, operation) = (request.bytes, u64::from(lengths.operation));
        let ready = self.chain.length.max(self.chain.start + u64::from(takes));
        for lane in lanes(request.mask) {
            let at = request.at[lane];
            let length = if how == Use::Write { ready } else { ready.max(units.of(at, bytes) + operation) };
            self.chain.length = self.chain.length.max(length);
            match how {
                Use::Read => {}
                // Lanes that don't take part keep what they have.
                Use::Write if request.space == Space::Local && request.mask != self.live => {
                    units.set(at, bytes, length.max(units.of(at, bytes)));
                }
                Use::Write | Use::Both => units.set(at, bytes, length),
            }
        }
    }

    /// After it: what its results have. `mask` are the lanes that took part.
    #[cold]
    pub(super) fn chain_end(&mut self, env: &mut Env<'_>, rows: &mut Rows, inst: &Inst, mask: u32) {
        let (length, whole) = (self.chain.length, mask == self.live);
        writes(&inst.op, &mut |row| rows.set(row, whole, length));
        let guarded = inst.guard != NONE;
        let waits = match &inst.op {
            Op::Branch(_) | Op::Return | Op::Exit => guarded,
            Op::Switch { .. } | Op::WarpSync(_) => true,
            Op::Call(call) => guarded || matches!(call.target, Target::Pointer(_)),
            _ => false,
        };
        let ends = matches!(
            &inst.op,
            Op::Branch(_) | Op::Switch { .. } | Op::Return | Op::Exit | Op::Call(_) | Op::WarpSync(_) | Op::Barrier(_)
        );
        if ends {
            self.chain.block = self.chain.last.max(self.chain.block + self.chain.started);
            self.chain.started = 0;
        }
        if waits {
            self.chain.past = self.chain.past.max(length);
        }
        env.counters.longest_chain = env.counters.longest_chain.max(length);
    }
}

/// Rows of a matrix.
fn of_matrix(fragment: &Fragment, visit: &mut impl FnMut(u32)) {
    fragment.registers.iter().copied().for_each(visit);
}

fn of_slots(slots: &[Slot], visit: &mut impl FnMut(u32)) {
    for slot in slots {
        if let Slot::Register { row, .. } = *slot {
            visit(row);
        }
    }
}

/// Rows that an instruction reads, `NONE` among them.
fn reads(op: &Op, visit: &mut impl FnMut(u32)) {
    match op {
        Op::Compute(_, args) => [args.a, args.b, args.c, args.x].into_iter().for_each(visit),
        Op::Switch { index, .. } => visit(*index),
        Op::Call(call) => {
            if let Target::Pointer(row) = call.target {
                visit(row);
            }
            of_slots(&call.arguments, visit);
        }
        Op::Load(access) => visit(access.address.row),
        Op::Store(access) => {
            visit(access.address.row);
            access.elements.iter().for_each(|&(row, _)| visit(row));
        }
        Op::Atomic(atomic) => [atomic.address.row, atomic.b, atomic.c].into_iter().for_each(visit),
        Op::CopyAsync(copy) => {
            [copy.to.row, copy.from.row, copy.source_bytes, copy.ignore].into_iter().for_each(visit);
        }
        Op::CopyBulk(copy) => {
            let barrier = copy.barrier.map_or(NONE, |barrier| barrier.row);
            [copy.to.address.row, copy.from.address.row, copy.bytes, barrier].into_iter().for_each(visit);
        }
        Op::Barrier(barrier) => {
            let source = barrier.reduce.map_or(NONE, |reduce| reduce.source);
            [barrier.id, barrier.threads, source].into_iter().for_each(visit);
        }
        Op::WarpSync(row) => visit(*row),
        Op::Exchange(exchange) => {
            [exchange.a, exchange.b, exchange.c, exchange.members].into_iter().for_each(visit);
        }
        Op::LoadMatrix(load) => {
            visit(load.address.row);
            if load.store {
                load.registers.iter().copied().for_each(visit);
            }
        }
        Op::TransposeMatrix(_, a) => visit(*a),
        Op::MoveFragment(moved) => {
            visit(moved.stride);
            visit(moved.access.address.row);
            if moved.store {
                of_matrix(&moved.fragment, visit);
            }
        }
        Op::Multiply(multiply) => {
            [&multiply.a, &multiply.b, &multiply.c].into_iter().for_each(|fragment| of_matrix(fragment, visit));
        }
        Op::BarrierObject(object) => [object.address.row, object.operand].into_iter().for_each(visit),
        Op::Allocate { bytes, .. } => visit(*bytes),
        Op::RestoreStack { a, .. } => visit(*a),
        Op::Branch(_)
        | Op::Return
        | Op::Exit
        | Op::Trap
        | Op::SaveStack { .. }
        | Op::ActiveMask(_)
        | Op::Fence { .. }
        | Op::Clock { .. }
        | Op::Yield
        | Op::Nop => {}
    }
}

/// Rows that an instruction writes, `NONE` among them.
fn writes(op: &Op, visit: &mut impl FnMut(u32)) {
    match op {
        Op::Compute(_, args) => [args.d, args.e].into_iter().for_each(visit),
        Op::Load(access) => access.elements.iter().for_each(|&(row, _)| visit(row)),
        Op::Atomic(atomic) => visit(atomic.d),
        Op::Exchange(exchange) => [exchange.d, exchange.p].into_iter().for_each(visit),
        Op::LoadMatrix(load) if !load.store => load.registers.iter().copied().for_each(visit),
        Op::TransposeMatrix(d, _) => visit(*d),
        Op::MoveFragment(moved) if !moved.store => of_matrix(&moved.fragment, visit),
        Op::Multiply(multiply) => of_matrix(&multiply.d, visit),
        Op::BarrierObject(object) => visit(object.d),
        // A function of the module says more when it returns.
        Op::Call(call) => of_slots(&call.returns, visit),
        Op::Allocate { d, .. } | Op::SaveStack { d, .. } | Op::ActiveMask(d) | Op::Clock { d, .. } => visit(*d),
        // A barrier's result comes when it opens.
        _ => {}
    }
}
