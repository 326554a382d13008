//! The items of a replay on a device.

use crate::{Arg, Buffer, DeviceTree, Extremes};
use bytemuck::{Pod, Zeroable};
use cuda_emu::Counters;

/// `kernels_gpu::tree::replay::Column`.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Column {
    /// Where its rows begin in a batch.
    pub batch: u64,
    /// Where its row begins in a record.
    pub offset: u32,
    /// Bytes of a row.
    pub width: u32,
    /// Whether a batch has the row of a return's last item.
    pub last: u32,
    /// Nothing.
    pub unused: u32,
}

/// A full ring of items of one column, of equal priorities.
#[derive(Debug)]
pub struct DeviceReplay {
    /// The priorities.
    pub tree: DeviceTree,
    /// Bytes of the column's rows.
    pub width: usize,
    /// (capacity, width) bytes.
    pub records: Buffer<u8>,
    /// The next item's number.
    pub inserted: Buffer<u64>,
    smallest: Extremes,
    ring: Buffer<u32>,
    columns: Buffer<Column>,
    beta: Buffer<f32>,
}

impl DeviceReplay {
    /// Items whose records are `records`, (capacity, width), drawn from strata and weighed over the buffer.
    ///
    /// # Panics
    /// Where the emulator reports something.
    pub fn new(capacity: usize, width: usize, records: &[u8]) -> Self {
        let tree = DeviceTree::new(&vec![0.5; capacity]);
        let bench = &tree.bench;
        let mut head = tree.head();
        head.present = capacity as u32;
        bench.write(&tree.head, &[head]);
        let smallest = Extremes::new(bench, "min", capacity);
        smallest.rebuild(bench, &tree.leaves);
        // No returns, no episodes.
        let ring = [1, 0, 0, 1, u32::MAX, u32::MAX, 0, 0, 0];
        Self {
            width,
            records: bench.buffer(records),
            inserted: bench.buffer(&[capacity as u64]),
            smallest,
            ring: bench.buffer(&ring),
            columns: bench.buffer(&[Column { batch: 0, offset: 0, width: width as u32, last: 0, unused: 0 }]),
            beta: bench.buffer(&[0.5]),
            tree,
        }
    }

    /// Draws m items, by so many half-warps each: slots and rows.
    ///
    /// # Panics
    /// Where the emulator reports something.
    pub fn sample(&self, m: usize, teams: usize) -> (Vec<u32>, Vec<u8>, Counters) {
        let Self { tree, width, .. } = self;
        let bench = &tree.bench;
        let (indices, rows) = (bench.room::<u32>(m), bench.room::<u8>(m * width));
        let (masses, handles) = (bench.room::<u64>(m), bench.room::<u64>(m));
        let (weights, lengths) = (bench.room::<f32>(m), bench.room::<u32>(m));
        let arrays = [(&tree.leaves).into(), (&tree.nodes).into(), (&tree.head).into(), (&tree.position).into()];
        let items = [(&tree.raw).into(), (&self.records).into(), (&self.ring).into(), (&self.columns).into()];
        let rest = [(&self.inserted).into(), (&self.smallest.first).into(), (&self.beta).into(), Arg::U64(0)];
        let out = [(&indices).into(), (&masses).into(), (&handles).into(), (&weights).into(), (&lengths).into()];
        let returns = [Arg::U64(0); 3];
        let numbers = [(&rows).into(), Arg::U64((m * width) as u64), Arg::U64(1), Arg::U64(2)];
        let sizes = [tree.capacity, *width, 1, m, 1, teams].map(|size| Arg::U32(size as u32));
        let args = [&arrays[..], &items, &rest, &out, &returns, &numbers, &sizes].concat();
        let counters = bench.run("replay_sample_f32", 16 * m * teams, 128, &args);
        (bench.read(&indices), bench.read(&rows), counters)
    }

    /// Writes n rows, from byte `at` of `rows` on, over the items from `inserted` on, by so many half-warps each.
    ///
    /// # Panics
    /// Where the emulator reports something.
    pub fn insert_rows(&self, rows: &Buffer<u8>, at: usize, n: usize, teams: usize) -> Counters {
        let arrays = [(&self.records).into(), (&self.inserted).into(), (&self.tree.head).into()];
        let mut columns = [Arg::U64(0); 8];
        columns[0] = rows.at(at);
        let (offsets, mut widths) = ([Arg::U32(0); 8], [Arg::U32(0); 8]);
        widths[0] = Arg::U32(self.width as u32);
        let sizes = [self.width, self.tree.capacity, n, teams].map(|size| Arg::U32(size as u32));
        let args = [&arrays[..], &columns, &offsets, &widths, &sizes].concat();
        self.tree.bench.run("replay_insert_rows", 16 * n * teams, 128, &args)
    }
}
