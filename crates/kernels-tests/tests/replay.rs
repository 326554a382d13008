//! Priorities of a replay's items on the device against per-core's, with batches that are refused among the others.

use arith::random::Stream;
use kernels_tests::{DeviceItems, NewItems, assert_bits, fault};
use per_core::replay::{Column, Columns, Config, Error, Handle, NewItems as Policy, PrioritizedReplay};
use std::num::NonZero;

const EPSILON: f32 = 0.01;
/// Of launches that look and apply, and of two.
const PASSES: [&[u32]; 2] = [&[0], &[1, 2]];

/// A replay on both.
struct Both {
    device: DeviceItems,
    host: PrioritizedReplay,
    column: Column<u8>,
    stale: u64,
}

impl Both {
    fn new(capacity: usize, alpha: f32, new_items: Policy) -> Self {
        let mut columns = Columns::new();
        let column = columns.add("column", 1).unwrap();
        let config = Config { alpha, epsilon: EPSILON, new_items, ..Config::new(capacity) };
        let host = PrioritizedReplay::new(config, columns).unwrap();
        Self { device: DeviceItems::new(capacity), host, column, stale: 0 }
    }

    /// What the host says, after the device has told the same.
    fn agree<T>(&mut self, said: Result<T, Error>) -> Option<T> {
        let bench = &self.device.tree.bench;
        let told = fault(bench.read(&self.device.tree.status)[0]);
        bench.write(&self.device.tree.status, &[0]);
        let refused = self.device.tree.head().refused;
        let expected = match &said {
            Ok(_) => None,
            Err(Error::UnknownHandle { position, handle, .. }) => Some((*position, Err(*handle as u32))),
            // Before powers, as handles before TD errors.
            Err(Error::InvalidPriority { position, value, .. }) => Some((*position, Err(value.to_bits()))),
            Err(Error::InvalidTdError { position, value, .. } | Error::PriorityOverflow { position, value, .. }) => {
                Some((*position, Ok(value.to_bits())))
            }
            Err(error) => panic!("{error}"),
        };
        assert_eq!(told.map(|(position, value)| (position as usize, value)), expected);
        assert_eq!(refused, u32::from(said.is_err()));
        self.check();
        said.ok()
    }

    fn insert(&mut self, new: NewItems<'_>) {
        let alpha = self.host.config().alpha;
        self.device.insert(new, alpha);
        let said = match new {
            NewItems::With(priorities) => {
                let rows = vec![0; priorities.len()];
                self.host.insert_batch_with_priorities(&[self.column.rows(&rows)], priorities)
            }
            NewItems::LargestEver(n) | NewItems::LargestNow(n) => {
                self.host.insert_batch(&[self.column.rows(&vec![0; n])])
            }
        };
        self.agree(said);
    }

    /// With the priorities of the settings.
    fn insert_largest(&mut self, n: usize) {
        match self.host.config().new_items {
            Policy::LargestNow => self.insert(NewItems::LargestNow(n)),
            _ => self.insert(NewItems::LargestEver(n)),
        }
    }

    /// `u64::MAX` is nothing for the device, and left out for the host: batches without it may be faulty.
    fn update(&mut self, numbers: &[u64], td: &[f32]) {
        let Config { alpha, epsilon, .. } = *self.host.config();
        self.device.update(numbers, td, (alpha, epsilon));
        let pairs = numbers.iter().zip(td).filter(|(number, _)| **number != u64::MAX);
        let (handles, of): (Vec<_>, Vec<_>) = pairs.map(|(&number, &td)| (Handle::from_number(number), td)).unzip();
        // The device tells the TD error, whose sign is lost in the priority.
        let said = self.host.update_priorities(&handles, &of).map_err(|error| match error {
            Error::PriorityOverflow { operation, position, alpha, .. } => {
                Error::PriorityOverflow { operation, position, value: of[position], alpha }
            }
            error => error,
        });
        self.count(said.map(|updated| updated.stale));
    }

    fn remove(&mut self, numbers: &[u64]) {
        self.device.remove(numbers);
        let handles: Vec<_> = numbers.iter().map(|&number| Handle::from_number(number)).collect();
        let said = self.host.remove(&handles).map(|updated| updated.stale);
        self.count(said);
    }

    fn count(&mut self, said: Result<usize, Error>) {
        self.stale += *said.as_ref().unwrap_or(&0) as u64;
        self.agree(said);
    }

    fn check(&self) {
        let Self { device, host, .. } = self;
        let (tree, bench) = (&device.tree, &device.tree.bench);
        let capacity = host.capacity();
        let mut powers = vec![0.0; capacity];
        host.powers().copy_priorities(&mut powers).unwrap();
        assert_bits("powers", &bench.read(&tree.leaves)[..capacity], &powers);
        let raw: Vec<_> =
            (0..capacity).map(|slot| host.handle(slot).map_or(-1.0, |handle| host.priority(handle).unwrap())).collect();
        assert_bits("priorities", &bench.read(&tree.raw), &raw);
        device.smallest.check(bench, &powers);
        device.largest.check(bench, &raw);
        let head = tree.head();
        assert_eq!((head.present as usize, head.ready, head.done, head.faulty), (host.len(), 1, 0, 0));
        assert_eq!(bench.read(&device.inserted), [host.inserted()]);
        assert_eq!(bench.read(&device.stale), [self.stale]);
        tree.check(host.powers());
    }
}

/// One in `rarity` is faulty.
fn errors(stream: &Stream, m: usize, rarity: u64) -> Vec<f32> {
    let faulty = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, -f32::MAX];
    let of = |j| match stream.bounded(7000 + j, rarity) {
        0 => faulty[stream.bounded(8000 + j, 5) as usize],
        1 => 0.0,
        _ => 4.0 * stream.uniform(9000 + j) - 2.0,
    };
    (0..m as u64).map(of).collect()
}

#[test]
fn any_program_leaves_the_items_of_the_cpu() {
    let mut refused = 0;
    for (case, capacity) in (0..).zip([1, 2, 15, 17, 40, 300, 5000]) {
        for (alpha, policy) in [(0.7, Policy::LargestNow), (1.5, Policy::LargestEver), (0.0, Policy::LargestNow)] {
            let mut both = Both::new(capacity, alpha, policy);
            for round in 0..14_u64 {
                let stream = Stream::new(case, round + 100 * (10.0 * alpha) as u64);
                let options = &mut both.device.tree.bench.options;
                (options.seed, options.threads) = (Some(round), NonZero::new(1 + round as usize % 2));
                both.device.width = [32, 64, 256][round as usize % 3];
                both.device.passes = PASSES[round as usize / 2 % 2];
                let m = 1 + stream.bounded(0, [3, 40, 400][round as usize % 3]) as usize;
                match round % 4 {
                    0 => {
                        let given: Vec<_> = errors(&stream, m, 150).iter().map(|td| td.abs()).collect();
                        both.insert(NewItems::With(&given));
                    }
                    1 => both.insert_largest(m),
                    _ => {
                        // Twice the ring, back from the next one; a few that are yet to come.
                        let next = both.host.inserted();
                        let back = |j| stream.bounded(100 + j, 2 * capacity as u64 + 1);
                        // Without faults, where the host's batch is a shorter one.
                        let with_none = round % 4 == 2 && round < 8;
                        let number = |j| match stream.bounded(5000 + j, 90) {
                            0 if !with_none => next + back(j),
                            0..5 if with_none => u64::MAX,
                            _ => next.saturating_sub(back(j) + 1),
                        };
                        let numbers: Vec<_> = (0..m as u64).map(number).collect();
                        if round % 8 == 7 {
                            both.remove(&numbers[..m.div_ceil(3)]);
                        } else {
                            let rarity = if with_none { 1 << 40 } else { 60 };
                            both.update(&numbers, &errors(&stream, m, rarity));
                        }
                    }
                }
                refused += both.device.tree.head().refused;
            }
        }
    }
    assert!((30..150).contains(&refused), "{refused} of 294");
}

#[test]
fn the_largest_of_the_items_that_stay_is_found_everywhere() {
    // On both sides of the new items, between them, and in whole nodes of every level.
    for capacity in [1, 2, 16, 17, 255, 300, 4097] {
        let mut both = Both::new(capacity, 1.0, Policy::LargestNow);
        let stream = Stream::new(capacity as u64, 5);
        for round in 0..40 {
            let given: Vec<_> = (0..1 + stream.bounded(round, 20)).map(|j| stream.uniform(1000 * round + j)).collect();
            both.insert(NewItems::With(&given));
            let n = match round % 5 {
                0 => capacity - 1,
                1 => capacity,
                2 => capacity + 3,
                _ => stream.bounded(200 + round, capacity as u64) as usize,
            };
            if round % 7 == 6 {
                // A peak somewhere among the items.
                let peak = both.host.inserted().saturating_sub(1 + stream.bounded(300 + round, capacity as u64));
                both.update(&[peak], &[100.0 + round as f32]);
            }
            both.insert_largest(n.max(1));
        }
    }
}

#[test]
fn new_items_beside_none_or_zeros_get_the_initial_priority() {
    let mut both = Both::new(40, 0.5, Policy::LargestNow);
    both.insert_largest(3);
    both.update(&[0, 1, 2], &[5.0, 2.0, 3.0]);
    // The largest one is gone.
    both.remove(&[0, 0, 1]);
    assert_eq!(both.stale, 1);
    both.insert_largest(2);
    assert_bits("the second largest", &both.device.tree.bench.read(&both.device.tree.raw)[3..5], &[3.0 + EPSILON; 2]);
    both.remove(&[2, 3, 4]);
    both.insert_largest(2);
    assert_bits("none", &both.device.tree.bench.read(&both.device.tree.raw)[5..7], &[1.0; 2]);
    both.insert(NewItems::With(&[0.0; 40]));
    both.insert_largest(1);
    let raw = both.device.tree.bench.read(&both.device.tree.raw);
    assert_eq!(raw.iter().filter(|&&priority| priority == 1.0).count(), 1);
}

#[test]
fn what_is_told_first_is_what_the_cpu_tells_first() {
    for passes in PASSES {
        // The power of the largest float is infinite.
        let mut both = Both::new(50, 2.0, Policy::LargestEver);
        both.device.passes = passes;
        both.device.width = 32;
        both.insert(NewItems::With(&[1.0; 40]));
        let (mut numbers, mut td) = (vec![7; 100], vec![1.0; 100]);
        (td[70], td[71]) = (-f32::MAX, f32::NAN);
        both.update(&numbers, &td);
        td[33] = f32::NAN;
        both.update(&numbers, &td);
        // Handles before priorities.
        (numbers[90], numbers[95]) = (40, 1 << 40);
        both.update(&numbers, &td);
        both.remove(&numbers);
        // Priorities before powers.
        let mut given = vec![1.0; 100];
        (given[40], given[80], given[81]) = (f32::MAX, -1.0, f32::NAN);
        both.insert(NewItems::With(&given));
        given[80..82].fill(2.0);
        both.insert(NewItems::With(&given));
        // Among those that others replace at once.
        given[40] = f32::INFINITY;
        both.insert(NewItems::With(&given));
        assert_eq!(both.host.inserted(), 40);
        given[40] = 9.0;
        both.insert(NewItems::With(&given));
        assert_eq!(both.device.tree.head().largest, 9.0_f32.to_bits());
        both.insert_largest(3);
    }
}
