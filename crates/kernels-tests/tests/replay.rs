//! Pieces of a replay on the device, put together, against per-core's.

use arith::random::Stream;
use kernels_tests::{Arg, Bench, Buffer, DeviceTree, Extremes, NewItems, assert_bits, fault};
use per_core::replay::{Column, Columns, Config, Draws, Handle, NewItems as HostNewItems, PrioritizedReplay, Weights};

/// 48, 4 and 3 bytes: moved in words of 16, 4 and 1 bytes, since a record has 64 (with a filling of 9).
struct Row {
    observation: Column<f32>,
    action: Column<i32>,
    flags: Column<u8>,
    filling: Column<u8>,
}

const CAPACITY: usize = 300;
const STRIDE: usize = 64;
const ALPHA: f32 = 0.7;
const EPSILON: f32 = 0.01;

struct Device {
    tree: DeviceTree,
    smallest: Extremes,
    largest: Extremes,
    records: Buffer<u8>,
    inserted: Buffer<u64>,
    stale: Buffer<u64>,
    beta: Buffer<f32>,
}

/// A batch on the device.
struct Drawn {
    slots: Vec<u32>,
    numbers: Vec<u64>,
    weights: Vec<f32>,
    observation: Vec<f32>,
    flags: Vec<u8>,
}

impl Device {
    fn new() -> Self {
        let mut tree = DeviceTree::without_items(CAPACITY);
        tree.bench = std::mem::replace(&mut tree.bench, Bench::new("tree")).with("replay");
        Self {
            smallest: Extremes::new(&tree.bench, "min", CAPACITY),
            largest: Extremes::new(&tree.bench, "max", CAPACITY),
            records: tree.bench.buffer(&[0; CAPACITY * STRIDE]),
            inserted: tree.bench.buffer(&[0]),
            stale: tree.bench.buffer(&[0]),
            beta: tree.bench.buffer(&[0.0]),
            tree,
        }
    }

    fn rows(&self, kernel: &str, bytes: usize, rows: &Buffer<u8>, offset: usize, width: usize, n: usize) {
        let words = |count: usize| Arg::U32((count / bytes) as u32);
        let args = [
            (&self.records).into(),
            rows.into(),
            (&self.inserted).into(),
            words(STRIDE),
            words(offset),
            words(width),
            Arg::U32(CAPACITY as u32),
            Arg::U32(n as u32),
        ];
        self.tree.bench.run(kernel, n * width / bytes, 128, &args);
    }

    fn gather(&self, kernel: &str, bytes: usize, slots: &[u32], offset: usize, width: usize) -> Vec<u8> {
        let (at, out) = (self.tree.bench.buffer(slots), self.tree.bench.room::<u8>(slots.len() * width));
        let words = |count: usize| Arg::U32((count / bytes) as u32);
        let args = [
            (&self.records).into(),
            (&at).into(),
            (&out).into(),
            words(STRIDE),
            words(offset),
            words(width),
            Arg::U32(CAPACITY as u32),
            Arg::U32(slots.len() as u32),
        ];
        self.tree.bench.run(kernel, slots.len() * width / bytes, 128, &args);
        self.tree.bench.read(&out)
    }

    /// Launches after the leaves of these slots have changed.
    fn follow(&self, slots: &[u32]) {
        self.tree.rebuild();
        self.smallest.refresh(&self.tree.bench, &self.tree.leaves, slots, 128);
        self.largest.refresh(&self.tree.bench, &self.tree.raw, slots, 128);
    }

    fn insert(&self, observation: &[f32], action: &[i32], flags: &[u8], new: Option<&[f32]>, policy: HostNewItems) {
        let n = action.len();
        let next = self.tree.bench.read(&self.inserted)[0];
        let upload = |bytes: &[u8]| self.tree.bench.buffer(bytes);
        self.rows("replay_insert_u128", 16, &upload(bytemuck::cast_slice(observation)), 0, 48, n);
        self.rows("replay_insert_u32", 4, &upload(bytemuck::cast_slice(action)), 48, 4, n);
        self.rows("replay_insert_u8", 1, &upload(flags), 52, 3, n);
        let slots: Vec<_> = (next..next + n as u64).map(|number| (number % CAPACITY as u64) as u32).collect();
        let new = match (new, policy) {
            (Some(priorities), _) => NewItems::With(priorities),
            (None, HostNewItems::LargestEver) => NewItems::LargestEver,
            _ => {
                self.tree.remove(&slots);
                self.largest.refresh(&self.tree.bench, &self.tree.raw, &slots, 64);
                NewItems::LargestNow(&self.largest.first)
            }
        };
        self.tree.insert(next, n, new, ALPHA);
        self.follow(&slots);
        self.tree.bench.run("replay_advance_u64", 1, 32, &[(&self.inserted).into(), Arg::U64(n as u64)]);
    }

    fn slots(&self, numbers: &[u64]) -> Vec<u32> {
        let (at, out) = (self.tree.bench.buffer(numbers), self.tree.bench.room::<u32>(numbers.len()));
        let sizes = [Arg::U32(CAPACITY as u32), Arg::U32(numbers.len() as u32)];
        let arrays = [(&at).into(), (&self.inserted).into(), (&self.tree.raw).into(), (&out).into()];
        let told = [(&self.stale).into(), (&self.tree.status).into()];
        let args = [&arrays[..], &told, &sizes].concat();
        self.tree.bench.run("replay_slots_u32", numbers.len(), 64, &args);
        self.tree.bench.read(&out)
    }

    fn draw(&self, m: usize, config: &Config, beta: f32) -> Drawn {
        let bench = &self.tree.bench;
        let kernel = match config.draws {
            Draws::Independent => "seg_tree_sample_f32",
            _ => "seg_tree_sample_stratified_f32",
        };
        let (slots, masses, _) = self.tree.sample(kernel, m, (config.seed, config.stream));
        bench.write(&self.beta, &[beta]);
        let (masses, weights) = (bench.buffer(&masses), bench.room::<f32>(m));
        let [mass, head, beta, out] =
            [(&masses).into(), (&self.tree.head).into(), (&self.beta).into(), (&weights).into()];
        let sizes = [Arg::U32(CAPACITY as u32), Arg::U32(m as u32)];
        let (kernel, width, args) = match config.weights {
            Weights::OverBuffer => (
                "importance_weights_over_buffer_f32",
                128,
                [&[mass, head, (&self.smallest.first).into(), beta, out][..], &sizes].concat(),
            ),
            Weights::OverBatch => {
                ("importance_weights_over_batch_f32", 1024, [&[mass, beta, out][..], &sizes[1..]].concat())
            }
            _ => ("importance_weights_unnormalized_f32", 128, [&[mass, head, beta, out][..], &sizes].concat()),
        };
        bench.run(kernel, m, width, &args);
        let (at, numbers) = (bench.buffer(&slots), bench.room::<u64>(m));
        let args = [&[(&at).into(), (&self.inserted).into(), (&numbers).into()][..], &sizes].concat();
        bench.run("replay_numbers_u64", m, 64, &args);
        Drawn {
            numbers: bench.read(&numbers),
            weights: bench.read(&weights),
            observation: bytemuck::pod_collect_to_vec(&self.gather("replay_gather_u128", 16, &slots, 0, 48)),
            flags: self.gather("replay_gather_u8", 1, &slots, 52, 3),
            slots,
        }
    }
}

fn host(config: Config) -> (PrioritizedReplay, Row) {
    let mut columns = Columns::new();
    let row = Row {
        observation: columns.add("observation", 12).unwrap(),
        action: columns.add("action", 1).unwrap(),
        flags: columns.add("flags", 3).unwrap(),
        filling: columns.add("filling", 9).unwrap(),
    };
    assert_eq!(columns.item_bytes(), STRIDE);
    (PrioritizedReplay::new(config, columns).unwrap(), row)
}

#[test]
fn a_replay_on_the_device_is_the_hosts() {
    let settings = [
        (Draws::Independent, Weights::OverBuffer, HostNewItems::LargestNow),
        (Draws::Stratified, Weights::OverBatch, HostNewItems::LargestEver),
        (Draws::Stratified, Weights::Unnormalized, HostNewItems::LargestNow),
    ];
    for (number, (draws, weights, new_items)) in (0..).zip(settings) {
        let settings = Config { alpha: ALPHA, epsilon: EPSILON, seed: 5, stream: number, ..Config::new(CAPACITY) };
        let config = Config { draws, weights, new_items, ..settings };
        let (mut host, row) = host(config.clone());
        let mut device = Device::new();
        let stream = Stream::new(7, number);
        let (mut late, mut stale) = (Vec::new(), 0);
        for round in 0..30_u64 {
            device.tree.bench.options.seed = Some(round);
            let at = 10_000 * round;
            let n = 1 + stream.bounded(at, 50) as usize;
            let (mut observation, action) = (vec![0.0; 12 * n], vec![round as i32; n]);
            stream.fill_normal(at, &mut observation);
            let flags: Vec<u8> = (0..3 * n as u64).map(|i| stream.word(at + i) as u8).collect();
            let given: Vec<_> = (0..n as u64).map(|i| 3.0 * stream.uniform(at + 500 + i)).collect();
            let filling = vec![0; 9 * n];
            let rows = [
                row.observation.rows(&observation),
                row.action.rows(&action),
                row.flags.rows(&flags),
                row.filling.rows(&filling),
            ];
            let given = (round % 3 == 1).then_some(&given[..]);
            match given {
                Some(given) => host.insert_batch_with_priorities(&rows, given).unwrap(),
                None => host.insert_batch(&rows).unwrap(),
            };
            device.insert(&observation, &action, &flags, given, new_items);
            assert_eq!(device.tree.head().present as usize, host.len());

            let mut batch = host.batch(37).unwrap();
            let beta = 0.03 * round as f32;
            host.sample_proportional(&mut batch, beta).unwrap();
            let drawn = device.draw(37, &config, beta);
            assert_eq!(drawn.slots, batch.indices());
            assert_eq!(drawn.numbers, batch.handles().iter().map(|handle| handle.number()).collect::<Vec<_>>());
            assert_bits("weights", &drawn.weights, batch.weights());
            assert_bits("observations", &drawn.observation, batch.rows(row.observation).unwrap());
            assert_eq!(drawn.flags, batch.rows(row.flags).unwrap());

            // TD errors of this batch, and of one from a while ago, some of whose items are gone.
            late.push(drawn.numbers);
            let old = late.len().checked_sub(9).map_or(&[][..], |old| &late[old]);
            let numbers: Vec<_> = late.last().unwrap().iter().chain(old).copied().collect();
            let handles: Vec<_> = numbers.iter().map(|&number| Handle::from_number(number)).collect();
            let mut td = vec![0.0; numbers.len()];
            stream.fill_normal(at + 5000, &mut td);
            stale += host.update_priorities(&handles, &td).unwrap().stale as u64;
            let slots = device.slots(&numbers);
            assert_eq!(device.tree.bench.read(&device.stale), [stale]);
            device.tree.update(&slots, &td, (ALPHA, EPSILON), 64);
            device.follow(&slots);
            if round % 4 == 3 {
                host.remove(&handles[5..9]).unwrap();
                device.tree.remove(&slots[5..9]);
                device.follow(&slots);
            }
        }
        assert_eq!(device.tree.bench.read(&device.tree.status), [0]);
        assert!(host.inserted() > 2 * CAPACITY as u64 && stale > 50);
    }
}

#[test]
fn what_is_no_slot_gives_zeros() {
    let device = Device::new();
    device.tree.bench.write(&device.records, &[7; CAPACITY * STRIDE]);
    let slots = [1, u32::MAX, 299];
    for (kernel, bytes) in [("replay_gather_u8", 1), ("replay_gather_u32", 4), ("replay_gather_u128", 16)] {
        let rows = device.gather(kernel, bytes, &slots, 16, 48);
        assert_eq!(rows, [[7; 48], [0; 48], [7; 48]].concat());
    }
}

#[test]
fn of_more_rows_than_the_capacity_the_last_ones_stay() {
    let device = Device::new();
    device.tree.bench.write(&device.inserted, &[295]);
    let rows: Vec<u8> = (0..700_u32).flat_map(|row| row.to_le_bytes()).collect();
    device.rows("replay_insert_u32", 4, &device.tree.bench.buffer(&rows), 60, 4, 700);
    let slots: Vec<u32> = (0..300).collect();
    let rows: Vec<u32> = bytemuck::pod_collect_to_vec(&device.gather("replay_gather_u32", 4, &slots, 60, 4));
    // Row 699 goes into slot 994 % 300 = 94.
    let expected = slots.iter().map(|&slot| if slot <= 94 { 605 + slot } else { 305 + slot });
    assert_eq!(rows, expected.collect::<Vec<_>>());
}

#[test]
fn numbers_and_slots_are_those_of_the_division() {
    let device = Device::new();
    // There are items.
    device.tree.bench.write(&device.tree.raw, &[0.0; CAPACITY]);
    for next in [0, 1, 299, 300, 301, 1000, (1 << 40) + 5] {
        device.tree.bench.write(&device.inserted, &[next]);
        let numbers: Vec<u64> = (0..302).filter_map(|back| next.checked_sub(back)).chain([u64::MAX]).collect();
        let inside = |number: u64| number < next && next - number <= 300;
        let expected: Vec<_> =
            numbers.iter().map(|&number| if inside(number) { (number % 300) as u32 } else { u32::MAX }).collect();
        let slots = device.slots(&numbers);
        assert_eq!(slots, expected);
        let (at, out) = (device.tree.bench.buffer(&slots), device.tree.bench.room::<u64>(slots.len()));
        let sizes = [Arg::U32(300), Arg::U32(slots.len() as u32)];
        let args = [&[(&at).into(), (&device.inserted).into(), (&out).into()][..], &sizes].concat();
        device.tree.bench.run("replay_numbers_u64", slots.len(), 64, &args);
        let expected: Vec<_> = numbers.iter().map(|&n| if inside(n) { n } else { u64::MAX }).collect();
        assert_eq!(device.tree.bench.read(&out), expected, "{next}");
    }
}

#[test]
fn numbers_that_no_item_has_yet_are_told() {
    let device = Device::new();
    device.tree.bench.write(&device.inserted, &[7]);
    device.tree.bench.write(&device.tree.raw, &[vec![1.0; 6], vec![-1.0; 294]].concat());
    // Number 6 was removed.
    assert_eq!(device.slots(&[3, u64::MAX, 6, 5, 7, 9]), [3, u32::MAX, u32::MAX, 5, u32::MAX, u32::MAX]);
    assert_eq!(device.tree.bench.read(&device.stale), [1]);
    assert_eq!(fault(device.tree.bench.read(&device.tree.status)[0]), Some((4, Err(7))));
}

#[test]
fn the_next_slots_go_round_the_ring() {
    let device = Device::new();
    for next in [0, 299, 1000, (1 << 40) + 5] {
        device.tree.bench.write(&device.inserted, &[next]);
        let out = device.tree.bench.room::<u32>(300);
        let args = [(&device.inserted).into(), (&out).into(), Arg::U32(300), Arg::U32(300)];
        device.tree.bench.run("replay_next_slots_u32", 300, 64, &args);
        let expected: Vec<_> = (next..next + 300).map(|number| (number % 300) as u32).collect();
        assert_eq!(device.tree.bench.read(&out), expected);
    }
}
