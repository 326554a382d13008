//! A launch: constants resolved, blocks on all threads, the first fault by index of block.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::block::{Progress, Workspace};
use super::chain::Following;
use super::env::{Checked, Counted, Env, Launch, Mode, Plain};
use crate::check::GlobalShadow;
use crate::count::Counters;
use crate::device::{Grid, Options};
use crate::fault::Fault;
use crate::lanes::{LANES, write_lane};
use crate::memory::layout::{FUNCTIONS, SHARED};
use crate::memory::{Heap, Snapshot};
use crate::program::{Constant, Program};
use crate::types::Space;

/// What to launch; the device has checked it.
pub(crate) struct Job<'j> {
    pub(crate) program: &'j Program,
    pub(crate) kernel: usize,
    /// Address of each static variable in device memory.
    pub(crate) addresses: &'j [u64],
    pub(crate) memory: Snapshot,
    pub(crate) grid: &'j Grid,
    pub(crate) parameters: &'j [u8],
    pub(crate) options: &'j Options,
    pub(crate) number: u64,
    pub(crate) output: &'j Mutex<String>,
    pub(crate) heap: Option<&'j Heap>,
}

/// Places of shared variables: offset of each one, and the size of the static ones.
pub(crate) fn shared_layout(program: &Program, kernel: usize) -> (Vec<Option<u64>>, u64) {
    let mut offsets = vec![None; program.variables.len()];
    let used = reachable(program, kernel);
    let mut size = 0_u64;
    let mut dynamic_align = 16;
    let mut dynamic = Vec::new();
    let mut statics: Vec<usize> = used.iter().flat_map(|&f| program.functions[f].statics.iter().copied()).collect();
    statics.sort_unstable();
    statics.dedup();
    for index in statics {
        let variable = &program.variables[index];
        if variable.space != Space::Shared {
            continue;
        }
        if variable.dynamic {
            dynamic.push(index);
            dynamic_align = dynamic_align.max(variable.align);
            continue;
        }
        let offset = size.next_multiple_of(variable.align);
        offsets[index] = Some(offset);
        size = offset + variable.bytes;
    }
    if !dynamic.is_empty() {
        size = size.next_multiple_of(dynamic_align);
    }
    for index in dynamic {
        offsets[index] = Some(size);
    }
    (offsets, size)
}

/// The kernel and all functions that it may call. One whose address is taken anywhere may be called.
fn reachable(program: &Program, kernel: usize) -> Vec<usize> {
    let mut seen = vec![false; program.functions.len()];
    let mut list = vec![kernel];
    seen[kernel] = true;
    let mut at = 0;
    let initial = program
        .variables
        .iter()
        .flat_map(|variable| &variable.initial)
        .filter_map(|initial| if let Constant::Function(index) = initial.value { Some(index) } else { None });
    for index in initial {
        if !std::mem::replace(&mut seen[index], true) {
            list.push(index);
        }
    }
    while at < list.len() {
        for &callee in &program.functions[list[at]].callees {
            if !std::mem::replace(&mut seen[callee], true) {
                list.push(callee);
            }
        }
        at += 1;
    }
    list
}

/// Runs a job to its end.
pub(crate) fn launch(job: Job<'_>) -> Result<Counters, Box<Fault>> {
    let (offsets, static_bytes) = shared_layout(job.program, job.kernel);
    let used = reachable(job.program, job.kernel);
    let mut files = vec![Vec::new(); job.program.functions.len()];
    for index in used {
        let function = &job.program.functions[index];
        let mut file = vec![0_u64; function.words as usize];
        for constant in &function.constants {
            let value = match constant.value {
                Constant::Bits(bits) => bits,
                Constant::Function(index) => FUNCTIONS + 16 * index as u64,
                Constant::Frame { .. } => 0,
                Constant::Variable { index, offset, generic } => {
                    let base = match offsets[index] {
                        Some(offset) => offset + if generic { SHARED } else { 0 },
                        None => job.addresses[index],
                    };
                    base.wrapping_add_signed(offset)
                }
            };
            for lane in 0..LANES {
                write_lane(&mut file, constant.row, constant.words, lane, value);
            }
        }
        files[index] = file;
    }
    let options = job.options;
    let [x, y, z] = job.grid.blocks;
    let blocks = u64::from(x) * u64::from(y) * u64::from(z);
    let regions = job.memory.live.len();
    let shadow = options.checks.races.then(|| GlobalShadow::new(regions, blocks.min(1 << 20) as usize));
    if !options.checks.uninitialised {
        for region in &job.memory.live {
            region.stop_tracking();
        }
    }
    let launch = Launch {
        program: job.program,
        kernel: job.kernel,
        files,
        memory: job.memory,
        parameters: job.parameters,
        blocks: job.grid.blocks,
        threads: job.grid.threads,
        shared_bytes: static_bytes + job.grid.shared_bytes,
        dynamic_bytes: job.grid.shared_bytes,
        grid: job.number,
        races: options.checks.races,
        uninitialised: options.checks.uninitialised,
        seed: options.seed,
        step_limit: options.step_limit.unwrap_or(u64::MAX),
        stack_bytes: options.stack_bytes,
        shadow,
        chain: options.chains.map(Following::new),
        stop: AtomicBool::new(false),
        output: job.output,
        heap: job.heap,
    };
    if options.checks.races || options.checks.uninitialised || options.chains.is_some() {
        run::<Checked>(&launch, blocks, options)
    } else if options.counters {
        run::<Counted>(&launch, blocks, options)
    } else {
        run::<Plain>(&launch, blocks, options)
    }
}

fn run<M: Mode>(launch: &Launch<'_>, blocks: u64, options: &Options) -> Result<Counters, Box<Fault>> {
    let threads = options.threads.map_or_else(rayon::current_num_threads, std::num::NonZero::get);
    let threads = threads.min(usize::try_from(blocks).unwrap_or(usize::MAX)).max(1);
    let next = AtomicU64::new(0);
    let total = Mutex::new(Counters::default());
    let fault: Mutex<Option<(u64, Box<Fault>)>> = Mutex::new(None);
    let work = || {
        let (counters, found) = worker::<M>(launch, blocks, &next);
        if let Ok(mut total) = total.lock() {
            total.join(&counters);
        }
        if let (Some((index, found)), Ok(mut fault)) = (found, fault.lock())
            && fault.as_ref().is_none_or(|(first, _)| index < *first)
        {
            *fault = Some((index, found));
        }
    };
    if threads == 1 {
        work();
    } else {
        rayon::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|_| work());
            }
        });
    }
    match fault.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner) {
        Some((_, fault)) => Err(fault),
        None => Ok(total.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)),
    }
}

/// A block that has begun.
struct Resident<'l> {
    index: u64,
    env: Env<'l>,
    workspace: Workspace,
}

/// Takes blocks in order until none is left or a fault has been found. A block that may wait for others makes room for
/// the next one: blocks that all wait for each other go on together, however few threads there are.
fn worker<'l, M: Mode>(launch: &'l Launch<'l>, blocks: u64, next: &AtomicU64) -> (Counters, Option<(u64, Box<Fault>)>) {
    let mut counters = Counters::default();
    let mut paused: VecDeque<Resident<'l>> = VecDeque::new();
    let mut spare: Vec<Resident<'l>> = Vec::new();
    while !launch.stop.load(Ordering::Relaxed) {
        let ticket = next.fetch_add(1, Ordering::Relaxed);
        if ticket < blocks {
            let new = || Resident { index: 0, env: Env::new(launch), workspace: Workspace::default() };
            let mut resident = spare.pop().unwrap_or_else(new);
            resident.index = shuffled(ticket, blocks, launch.seed);
            resident.env.reset::<M>(resident.index);
            if let Err(fault) = resident.workspace.begin(&mut resident.env) {
                launch.stop.store(true, Ordering::Relaxed);
                return (counters, Some((resident.index, fault)));
            }
            paused.push_front(resident);
        }
        // All that have begun have a turn before the next one begins.
        for _ in 0..paused.len() {
            let Some(mut resident) = paused.pop_front() else { break };
            match resident.workspace.proceed::<M>(&mut resident.env) {
                Ok(Progress::Paused) => paused.push_back(resident),
                Ok(Progress::Done) => {
                    counters.join(&std::mem::take(&mut resident.env.counters));
                    spare.push(resident);
                }
                Err(fault) => {
                    launch.stop.store(true, Ordering::Relaxed);
                    return (counters, Some((resident.index, fault)));
                }
            }
            if launch.stop.load(Ordering::Relaxed) {
                break;
            }
        }
        if ticket >= blocks && paused.is_empty() {
            break;
        }
    }
    (counters, None)
}

/// The block that comes at a turn: in order, or with a seed in another one. An odd factor permutes a power of two;
/// indices beyond the number of blocks are passed on.
fn shuffled(ticket: u64, blocks: u64, seed: Option<u64>) -> u64 {
    let Some(seed) = seed else { return ticket };
    let mask = blocks.next_power_of_two() - 1;
    let mut index = ticket;
    loop {
        index = (index.wrapping_mul(seed.wrapping_mul(2) | 1).wrapping_add(seed >> 32)) & mask;
        if index < blocks {
            return index;
        }
    }
}
