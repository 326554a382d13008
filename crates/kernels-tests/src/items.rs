//! Priorities of a replay's items on a device.

use crate::{Arg, Buffer, DeviceTree, Extremes};
use cuda_emu::Counters;

/// The tree of a replay's items, and what follows it.
#[derive(Debug)]
pub struct DeviceItems {
    /// Of the powers.
    pub tree: DeviceTree,
    /// Over the powers.
    pub smallest: Extremes,
    /// Over the priorities.
    pub largest: Extremes,
    /// The next item's number.
    pub inserted: Buffer<u64>,
    /// Numbers of items that were gone.
    pub stale: Buffer<u64>,
    /// Threads of a block.
    pub width: u32,
    /// What each launch of a batch does: looks and applies, or looks, and the next one applies.
    pub passes: &'static [u32],
}

/// Which priorities new items get.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NewItems<'a> {
    /// These.
    With(&'a [f32]),
    /// The largest that there ever was.
    LargestEver(usize),
    /// The largest of the items that stay.
    LargestNow(usize),
}

impl DeviceItems {
    /// Without items.
    ///
    /// # Panics
    /// Where the emulator reports something.
    pub fn new(capacity: usize) -> Self {
        let tree = DeviceTree::without_items(capacity);
        let bench = &tree.bench;
        Self {
            smallest: Extremes::new(bench, "min", capacity),
            largest: Extremes::new(bench, "max", capacity),
            inserted: bench.buffer(&[0]),
            stale: bench.buffer(&[0]),
            width: 64,
            passes: &[0],
            tree,
        }
    }

    /// Sets priorities from TD errors: the update, and what follows it.
    ///
    /// # Panics
    /// Where the emulator reports something.
    pub fn update(&self, numbers: &[u64], td: &[f32], (alpha, eps): (f32, f32)) -> [Counters; 2] {
        let bench = &self.tree.bench;
        let (at, errors) = (bench.buffer(numbers), bench.buffer(td));
        let told = [(&self.stale).into(), (&self.tree.status).into()];
        let items = [(&at).into(), (&self.inserted).into(), (&errors).into()];
        let update =
            self.launch("replay_update_f32", numbers.len(), &[&told[..], &items].concat(), &[alpha.into(), eps.into()]);
        [update, self.follow((&at).into(), numbers.len())]
    }

    /// Takes items out.
    ///
    /// # Panics
    /// Where the emulator reports something.
    pub fn remove(&self, numbers: &[u64]) -> [Counters; 2] {
        let at = self.tree.bench.buffer(numbers);
        let items = [(&self.stale).into(), (&self.tree.status).into(), (&at).into(), (&self.inserted).into()];
        let remove = self.launch("replay_remove_f32", numbers.len(), &items, &[]);
        [remove, self.follow((&at).into(), numbers.len())]
    }

    /// Inserts items, without rows.
    ///
    /// # Panics
    /// Where the emulator reports something.
    pub fn insert(&self, new: NewItems<'_>, alpha: f32) -> [Counters; 2] {
        let given = if let NewItems::With(priorities) = new { Some(self.tree.bench.buffer(priorities)) } else { None };
        let given = given.as_ref().map_or(Arg::U64(0), Arg::from);
        let (n, keys) = match new {
            NewItems::With(priorities) => (priorities.len(), Arg::U64(0)),
            NewItems::LargestEver(n) => (n, Arg::U64(0)),
            NewItems::LargestNow(n) => (n, (&self.largest.keys).into()),
        };
        let items = [(&self.tree.status).into(), (&self.inserted).into(), given, keys];
        let insert = self.launch("replay_insert_f32", n, &items, &[alpha.into()]);
        [insert, self.follow(Arg::U64(0), n)]
    }

    /// Launches the passes of a batch of m; what they count together.
    fn launch(&self, kernel: &str, m: usize, items: &[Arg], rest: &[Arg]) -> Counters {
        let tree = &self.tree;
        let arrays = [(&tree.leaves).into(), (&tree.nodes).into(), (&tree.head).into(), (&tree.claims).into()];
        let mut all = Counters::default();
        for &pass in self.passes {
            let sizes = [tree.size(), Arg::U32(m as u32), Arg::U32(pass)];
            let args = [&arrays[..], &[(&tree.raw).into()], items, &sizes, rest].concat();
            all.join(&tree.bench.run(kernel, m, self.width, &args));
        }
        all
    }

    /// Follows items of these numbers, or m new ones.
    fn follow(&self, numbers: Arg, m: usize) -> Counters {
        let Self { tree, smallest, largest, .. } = self;
        let arrays = [(&tree.leaves).into(), (&tree.nodes).into(), (&tree.head).into(), (&tree.raw).into()];
        let extremes = [&smallest.keys, &smallest.first, &largest.keys, &largest.first].map(Arg::from);
        let rest = [numbers, (&self.inserted).into(), tree.size(), Arg::U32(m as u32)];
        let blocks = m.div_ceil(16).max(tree.capacity.div_ceil(4096));
        tree.bench.run("replay_follow_f32", 256 * blocks, 256, &[arrays, extremes, rest].concat())
    }
}
