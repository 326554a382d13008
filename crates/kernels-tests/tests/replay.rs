//! Which item of a replay is where.

use kernels_tests::{Arg, Bench, Buffer, DeviceTree, fault};

const CAPACITY: usize = 300;

struct Device {
    tree: DeviceTree,
    inserted: Buffer<u64>,
    stale: Buffer<u64>,
}

impl Device {
    fn new() -> Self {
        let mut tree = DeviceTree::without_items(CAPACITY);
        tree.bench = std::mem::replace(&mut tree.bench, Bench::new("tree")).with("replay");
        Self { inserted: tree.bench.buffer(&[0]), stale: tree.bench.buffer(&[0]), tree }
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
