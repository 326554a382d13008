//! A tree of sums on a device.

use crate::{Arg, Bench, Buffer, assert_bits};
use arith::fixed::Scale;
use bytemuck::{Pod, Zeroable};
use cuda_emu::{Counters, LaunchError};
use per_core::SumTree;

/// `kernels_gpu::tree::Head`.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Head {
    /// Sum of all leaves at the stored scale.
    pub total: u64,
    /// Updates so far.
    pub updates: u64,
    /// The largest leaf is below 2^shown.
    pub shown: i32,
    /// The same when the sums were made anew.
    pub stored: i32,
    /// Whether the sums serve.
    pub ready: u32,
    /// Blocks that have finished.
    pub done: u32,
    /// Bits of the largest priority that there ever was.
    pub largest: u32,
    /// Number of items.
    pub present: u32,
    /// Whether the latest batch was refused.
    pub refused: u32,
    /// The same while a launch looks.
    pub faulty: u32,
    /// Leaves of each magnitude.
    pub bins: [u32; 278],
    /// The same while they are counted.
    pub survey: [u32; 278],
}

/// The tree, and what its kernels need.
#[derive(Debug)]
pub struct DeviceTree {
    /// Module `tree`.
    pub bench: Bench,
    /// Number of leaves.
    pub capacity: usize,
    /// The priorities, blocks of 16.
    pub leaves: Buffer<f32>,
    /// The sums, level 0 first.
    pub nodes: Buffer<u64>,
    /// The rest of the tree.
    pub head: Buffer<Head>,
    /// Last update of each leaf.
    pub claims: Buffer<u64>,
    /// Priorities before alpha.
    pub raw: Buffer<f32>,
    /// What was wrong.
    pub status: Buffer<u64>,
    /// Of the stream of draws: next block, blocks of threads.
    pub position: Buffer<u64>,
}

/// Elements of each level over so many blocks, the lowest first.
pub fn levels(blocks: usize) -> Vec<usize> {
    let mut levels = vec![blocks];
    while let Some(&last) = levels.last()
        && last > 16
    {
        levels.push(last.div_ceil(16));
    }
    levels
}

impl DeviceTree {
    /// A tree of these priorities.
    ///
    /// # Panics
    /// Where the emulator reports something.
    pub fn new(priorities: &[f32]) -> Self {
        let bench = Bench::new("tree");
        let capacity = priorities.len();
        let blocks = capacity.div_ceil(16);
        let mut leaves = priorities.to_vec();
        leaves.resize(16 * blocks, 0.0);
        let nodes: usize = levels(blocks).iter().map(|elements| elements.next_multiple_of(16)).sum();
        let tree = Self {
            capacity,
            leaves: bench.buffer(&leaves),
            nodes: bench.buffer(&vec![0; nodes]),
            head: bench.buffer(&[Head::zeroed()]),
            claims: bench.buffer(&vec![0; capacity]),
            raw: bench.buffer(priorities),
            status: bench.buffer(&[0]),
            position: bench.buffer(&[0; 2]),
            bench,
        };
        tree.load(None);
        tree
    }

    /// A tree for a replay without items.
    ///
    /// # Panics
    /// Where the emulator reports something.
    pub fn without_items(capacity: usize) -> Self {
        let tree = Self::new(&vec![0.0; capacity]);
        tree.bench.write(&tree.raw, &vec![-1.0; capacity]);
        tree
    }

    /// Sets all priorities, or takes those that are there.
    ///
    /// # Panics
    /// Where the emulator reports something.
    pub fn load(&self, source: Option<&[f32]>) {
        let source = source.map(|source| self.bench.buffer(source));
        let source = source.as_ref().map_or(Arg::U64(0), Arg::from);
        let threads = 256 * self.capacity.div_ceil(4096);
        let args = [source, (&self.leaves).into(), (&self.head).into(), (&self.status).into(), self.size()];
        self.bench.run("seg_tree_survey_f32", threads, 256, &args);
        let args = [source, (&self.leaves).into(), (&self.nodes).into(), (&self.head).into(), self.size()];
        self.bench.run("seg_tree_load_f32", threads, 256, &args);
    }

    pub(crate) fn size(&self) -> Arg {
        Arg::U32(self.capacity as u32)
    }

    /// The head.
    pub fn head(&self) -> Head {
        self.bench.read(&self.head)[0]
    }

    /// Makes the sums anew if that is needed.
    ///
    /// # Panics
    /// Where the emulator reports something.
    pub fn rebuild(&self) -> Counters {
        let args = [(&self.leaves).into(), (&self.nodes).into(), (&self.head).into(), self.size()];
        self.bench.run("seg_tree_rebuild_f32", self.capacity.div_ceil(16), 256, &args)
    }

    /// The arrays that updates change.
    fn changed(&self) -> [Arg; 5] {
        let tree = [&self.nodes, &self.claims, &self.status].map(Arg::from);
        [(&self.leaves).into(), tree[0], (&self.head).into(), tree[1], tree[2]]
    }

    /// Updates from TD errors, in blocks of `width`: the last pass's counters.
    ///
    /// # Errors
    /// What the emulator reports.
    pub fn try_update(
        &self,
        indices: &[u32],
        td: &[f32],
        (alpha, eps): (f32, f32),
        (passes, width): (&[u32], u32),
    ) -> Result<Counters, LaunchError> {
        let (at, errors) = (self.bench.buffer(indices), self.bench.buffer(td));
        let m = Arg::U32(indices.len() as u32);
        let mut counters = Counters::default();
        for &pass in passes {
            let rest = [(&at).into(), (&errors).into(), self.size(), m, Arg::U32(pass), alpha.into(), eps.into()];
            let args = [&self.changed()[..], &rest].concat();
            counters = self.bench.try_run("seg_tree_update_f32", indices.len(), width, &args)?;
        }
        Ok(counters)
    }

    /// [`try_update`](Self::try_update).
    ///
    /// # Panics
    /// With what the emulator reports.
    pub fn update(&self, indices: &[u32], td: &[f32], powers: (f32, f32), width: u32) -> Counters {
        self.try_update(indices, td, powers, (&[0], width)).unwrap_or_else(|error| panic!("update: {error}"))
    }

    /// Sets priorities as they are.
    ///
    /// # Panics
    /// Where the emulator reports something.
    pub fn set(&self, indices: &[u32], priorities: &[f32], width: u32) -> Counters {
        let (at, values) = (self.bench.buffer(indices), self.bench.buffer(priorities));
        let rest = [(&at).into(), (&values).into(), self.size(), Arg::U32(indices.len() as u32), Arg::U32(0)];
        self.bench.run("seg_tree_set_f32", indices.len(), width, &[&self.changed()[..], &rest].concat())
    }

    /// Leaves of thresholds, and their weights.
    ///
    /// # Panics
    /// Where the emulator reports something.
    pub fn find(&self, thresholds: &[u64]) -> (Vec<u32>, Vec<u64>) {
        let m = thresholds.len();
        let at = self.bench.buffer(thresholds);
        let (out, weights) = (self.bench.room::<u32>(m), self.bench.room::<u64>(m));
        let tree = [(&self.leaves).into(), (&self.nodes).into(), (&self.head).into()];
        let out_args = [(&at).into(), (&out).into(), (&weights).into(), (&self.status).into()];
        let rest = [&out_args[..], &[self.size(), Arg::U32(m as u32)]].concat();
        self.bench.run("seg_tree_find_f32", 16 * m, 64, &[&tree[..], &rest].concat());
        (self.bench.read(&out), self.bench.read(&weights))
    }

    /// Draws by `kernel` from where the position is.
    ///
    /// # Panics
    /// Where the emulator reports something.
    pub fn sample(&self, kernel: &str, m: usize, (seed, stream): (u64, u64)) -> (Vec<u32>, Vec<u64>, Counters) {
        let (out, weights) = (self.bench.room::<u32>(m), self.bench.room::<u64>(m));
        let tree = [(&self.leaves).into(), (&self.nodes).into(), (&self.head).into(), (&self.position).into()];
        let rest =
            [(&out).into(), (&weights).into(), self.size(), Arg::U32(m as u32), Arg::U64(seed), Arg::U64(stream)];
        let counters = self.bench.run(kernel, 16 * m, 128, &[&tree[..], &rest].concat());
        (self.bench.read(&out), self.bench.read(&weights), counters)
    }

    /// Draws without replacement from where the position is.
    ///
    /// # Panics
    /// Where the emulator reports something.
    pub fn sample_distinct(&self, m: usize, (seed, stream): (u64, u64), width: u32) -> (Vec<u32>, Vec<u64>) {
        let (out, weights) = (self.bench.room::<u32>(m), self.bench.room::<u64>(m));
        let scratch = self.bench.room::<u64>(8 * m.next_power_of_two());
        let tree = [(&self.leaves).into(), (&self.nodes).into(), (&self.head).into(), (&self.position).into()];
        let arrays = [(&scratch).into(), (&out).into(), (&weights).into()];
        let sizes = [self.size(), Arg::U32(m as u32), Arg::U32(0), Arg::U64(seed), Arg::U64(stream)];
        self.bench.run("seg_tree_sample_distinct_f32", 1, width, &[&tree[..], &arrays, &sizes].concat());
        (self.bench.read(&out), self.bench.read(&weights))
    }

    /// That every sum is that of what lies below it at the stored scale, and that all that is shown is the host's.
    ///
    /// # Panics
    /// Where it isn't.
    pub fn check(&self, host: &SumTree) {
        let head = self.head();
        let mut expected = vec![0.0; self.capacity];
        host.copy_priorities(&mut expected).unwrap();
        let leaves = self.bench.read(&self.leaves);
        assert_bits("leaves", &leaves[..self.capacity], &expected);
        assert!(leaves[self.capacity..].iter().all(|&leaf| leaf.to_bits() == 0));
        assert_eq!(head.done, 0);
        assert_eq!(head.bins.iter().sum::<u32>() as usize, self.capacity);
        assert_eq!(self.capacity - head.bins[0] as usize, host.positive());
        assert_eq!(Scale::below(head.shown, self.capacity as u32), host.scale());
        assert_eq!(head.ready, 1);
        // Leaves are multiples of both units: so sums at the host's scale are shifted ones.
        let scale = host.scale();
        let mut below: Vec<u64> = leaves.iter().map(|&leaf| scale.quantize(leaf)).collect();
        assert_eq!(below.iter().sum::<u64>(), host.total());
        let shift = head.total.leading_zeros() as i32 - host.total().leading_zeros() as i32;
        let reveal = |sum: u64| if shift >= 0 { sum << shift } else { sum >> -shift };
        assert_eq!(reveal(head.total), host.total());
        let nodes = self.bench.read(&self.nodes);
        let mut start = 0;
        for elements in levels(self.capacity.div_ceil(16)) {
            below = below.chunks(16).map(|parts| parts.iter().sum()).collect();
            assert_eq!(below.len(), elements);
            let level = &nodes[start..start + elements.next_multiple_of(16)];
            assert_eq!(level[..elements].iter().map(|&sum| reveal(sum)).collect::<Vec<_>>(), below);
            assert!(level[elements..].iter().all(|&sum| sum == 0));
            start += level.len();
        }
        assert_eq!(start, nodes.len());
    }
}
