//! What a warp sees while it runs: the launch, its block, and how much is checked.

use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

use super::chain::{Following, Units};
use super::object::Objects;
use super::request::LaneRequest;
use crate::check::{Accessor, Clocks, Conflict, GlobalShadow, SharedShadow, merge};
use crate::count::Counters;
use crate::fault::{Fault, FaultKind, Nearest};
use crate::lanes::LANES;
use crate::memory::{Heap, Snapshot};
use crate::program::Program;
use crate::types::Space;

/// How much a launch looks at. A type, so that what isn't asked for costs nothing.
pub(super) trait Mode {
    const COUNT: bool;
    const CHECK: bool;
}

/// Runs.
pub(super) struct Plain;
/// Runs and counts.
pub(super) struct Counted;
/// Runs, counts and checks races and unwritten memory.
pub(super) struct Checked;

impl Mode for Plain {
    const COUNT: bool = false;
    const CHECK: bool = false;
}
impl Mode for Counted {
    const COUNT: bool = true;
    const CHECK: bool = false;
}
impl Mode for Checked {
    const COUNT: bool = true;
    const CHECK: bool = true;
}

/// What all blocks of a launch share.
pub(super) struct Launch<'l> {
    pub(super) program: &'l Program,
    pub(super) kernel: usize,
    /// Register files as they are when a function begins.
    pub(super) files: Vec<Vec<u64>>,
    pub(super) memory: Snapshot,
    pub(super) parameters: &'l [u8],
    pub(super) blocks: [u32; 3],
    pub(super) threads: [u32; 3],
    pub(super) shared_bytes: u64,
    pub(super) dynamic_bytes: u64,
    pub(super) grid: u64,
    pub(super) races: bool,
    pub(super) uninitialised: bool,
    pub(super) seed: Option<u64>,
    pub(super) step_limit: u64,
    pub(super) stack_bytes: u64,
    pub(super) shadow: Option<GlobalShadow>,
    /// Chains, if they are followed.
    pub(super) chain: Option<Following>,
    pub(super) stop: AtomicBool,
    pub(super) output: &'l Mutex<String>,
    pub(super) heap: Option<&'l Heap>,
}

impl Launch<'_> {
    pub(super) fn threads_per_block(&self) -> u32 {
        self.threads.iter().product()
    }

    /// Components of an index, x first.
    pub(super) fn thread_index(&self, thread: u32) -> [u32; 3] {
        let [x, y, _] = self.threads;
        [thread % x, thread / x % y, thread / x / y]
    }
}

/// What the warps of a block share.
pub(super) struct Env<'l> {
    pub(super) launch: &'l Launch<'l>,
    pub(super) block: [u32; 3],
    /// Index of the block, x first.
    pub(super) linear: u32,
    pub(super) shared: Vec<u64>,
    pub(super) counters: Counters,
    pub(super) clocks: Clocks,
    pub(super) shadow: SharedShadow,
    /// Barriers that are objects in shared memory.
    pub(super) objects: Objects,
    /// Lengths of the chains that bytes of shared memory end.
    pub(super) chain: Units,
    /// What warps knew that have made a fence or a release.
    pub(super) published: Vec<u32>,
    /// Whether the block has made an atomic or strong access to global memory.
    pub(super) informed: bool,
    /// Whether it has made one in the present stretch.
    pub(super) listens: bool,
}

/// Where a warp is, for reports.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) warp: u32,
    pub(super) function: usize,
    pub(super) line: u32,
}

impl Place {
    pub(super) fn thread(&self, lane: usize) -> u32 {
        self.warp * LANES as u32 + lane as u32
    }
}

impl<'l> Env<'l> {
    pub(super) fn new(launch: &'l Launch<'l>) -> Self {
        Self {
            launch,
            block: [0; 3],
            linear: 0,
            shared: Vec::new(),
            counters: Counters::default(),
            clocks: Clocks::default(),
            shadow: SharedShadow::default(),
            objects: Objects::default(),
            chain: Units::default(),
            published: Vec::new(),
            informed: false,
            listens: false,
        }
    }

    /// Sets it up for a block by its index, x first.
    pub(super) fn reset<M: Mode>(&mut self, index: u64) {
        let launch = self.launch;
        let [x, y, _] = launch.blocks.map(u64::from);
        self.block = [index % x, index / x % y, index / x / y].map(|component| component as u32);
        self.linear = index as u32;
        self.informed = false;
        self.listens = false;
        self.objects.clear();
        self.chain.clear();
        self.published.clear();
        self.shared.clear();
        self.shared.resize((launch.shared_bytes as usize).div_ceil(8), 0);
        self.clocks.reset(launch.threads_per_block().div_ceil(LANES as u32) as usize);
        if M::CHECK {
            self.shadow.reset(launch.shared_bytes as usize);
        }
    }

    /// A fence or a release by a warp: what it has done can be learned of.
    pub(super) fn publish(&mut self, warp: u32) {
        self.clocks.advance(warp as usize);
        merge(&mut self.published, self.clocks.row(warp as usize));
    }

    /// An atomic or strong access by a warp, by which it may have learned what others have done. Which of them it was
    /// isn't followed.
    pub(super) fn learn(&mut self, warp: u32) {
        self.clocks.join(warp as usize, &self.published);
    }

    /// Notes an atomic or strong access to global memory, by which other blocks may tell something.
    pub(super) fn inform(&mut self) {
        self.informed = true;
        self.listens = true;
    }
}

impl Env<'_> {
    pub(super) fn shared_bytes(&self) -> &[u8] {
        bytemuck::cast_slice(&self.shared)
    }

    pub(super) fn shared_bytes_mut(&mut self) -> &mut [u8] {
        bytemuck::cast_slice_mut(&mut self.shared)
    }

    #[cold]
    pub(super) fn fault(&self, kind: FaultKind, place: Place, lane: usize) -> Box<Fault> {
        let program = self.launch.program;
        Box::new(Fault {
            kind,
            kernel: program.functions[self.launch.kernel].name.clone(),
            function: program.functions[place.function].name.clone(),
            line: place.line,
            block: self.block,
            thread: self.launch.thread_index(place.thread(lane)),
            address: None,
            nearest: None,
        })
    }

    /// A fault of an access.
    #[cold]
    pub(super) fn access_fault(
        &self,
        kind: FaultKind,
        place: Place,
        lane: usize,
        space: Space,
        address: u64,
    ) -> Box<Fault> {
        let mut fault = self.fault(kind, place, lane);
        fault.address = Some((space, address));
        if matches!(space, Space::Global | Space::Generic | Space::Const) {
            fault.nearest = self.nearest(address);
            if let (Some(Nearest { freed: true, offset, bytes, .. }), FaultKind::OutOfBounds { bytes: size }) =
                (&fault.nearest, &fault.kind)
                && (0..i128::from(*bytes)).contains(offset)
            {
                fault.kind = FaultKind::UseAfterFree { bytes: *size };
            }
        }
        fault
    }

    /// The allocation, alive or not, that is nearest to the address.
    fn nearest(&self, address: u64) -> Option<Nearest> {
        let live = self.launch.memory.live.iter().map(|region| (region.base, region.bytes, region.name.clone(), false));
        let freed = self.launch.memory.freed.iter().map(|&(base, bytes)| (base, bytes, None, true));
        let distance = |base: u64, bytes: u64| {
            if address < base { base - address } else { address.saturating_sub(base + bytes - 1) }
        };
        live.chain(freed).min_by_key(|&(base, bytes, _, _)| distance(base, bytes)).map(|(base, bytes, name, freed)| {
            Nearest { base, bytes, offset: i128::from(address) - i128::from(base), name, freed }
        })
    }

    pub(super) fn accessor(&self, one: &LaneRequest) -> Accessor<'_> {
        let first = self.clocks.accessor(self.linear, one.place.warp, self.informed);
        Accessor { thread: one.place.thread(one.lane), atomic: one.atomic, ..first }
    }

    #[cold]
    pub(super) fn race(&self, conflict: Conflict, write: bool, one: &LaneRequest) -> Box<Fault> {
        let other_block = if one.space == Space::Shared { self.linear } else { conflict.block };
        let kind = FaultKind::Race { write, other_write: conflict.write, other_block, other_thread: conflict.thread };
        one.fault(self, kind)
    }
}
