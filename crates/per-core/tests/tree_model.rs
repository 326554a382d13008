//! Random programs of operations, against a plain vector and integers that can't overflow.

use arith::random::Stream;
use per_core::{Error, MaxTree, MinTree, SumTree, oracle};
use proptest::prelude::*;

/// The documented scale, from the definition: b - e for a largest priority in [2^(e-1), 2^e).
fn exponent(priorities: &[f32]) -> i32 {
    let largest = priorities.iter().copied().fold(0.0, |a: f32, b| if b > a { b } else { a });
    let mut bits = 63;
    let mut leaves = 1_u64;
    while leaves < priorities.len() as u64 {
        leaves *= 2;
        bits -= 1;
    }
    let (mut e, mut power) = (-149, 2_f64.powi(-149));
    while power <= f64::from(largest) {
        (e, power) = (e + 1, power * 2.0);
    }
    bits.min(52) - if largest == 0.0 { 1 } else { e }
}

/// The model, and the trees under test.
struct Trio {
    model: Vec<f32>,
    sum: SumTree,
    min: MinTree,
    max: MaxTree,
}

impl Trio {
    fn new(capacity: usize) -> Self {
        Self {
            model: vec![0.0; capacity],
            sum: SumTree::new(capacity).unwrap(),
            min: MinTree::new(capacity).unwrap(),
            max: MaxTree::new(capacity).unwrap(),
        }
    }

    fn update(&mut self, indices: &[u32], values: &[f32]) {
        for (&i, &v) in indices.iter().zip(values) {
            self.model[i as usize] = v;
        }
        self.sum.update(indices, values).unwrap();
        self.min.update(indices, values).unwrap();
        self.max.update(indices, values).unwrap();
    }

    fn rebuild(&mut self, values: Vec<f32>) {
        self.sum.rebuild(&values).unwrap();
        self.min.rebuild(&values).unwrap();
        self.max.rebuild(&values).unwrap();
        self.model = values;
    }

    /// A batch that must be refused at `position`, and change nothing.
    fn refuse(&mut self, mut indices: Vec<u32>, mut values: Vec<f32>, position: usize, fault: u8) {
        match fault {
            0 => values[position] = f32::NAN,
            1 => values[position] = f32::INFINITY,
            2 => values[position] = -1e-45,
            _ => indices[position] = self.model.len() as u32,
        }
        let results = [
            self.sum.update(&indices, &values),
            self.min.update(&indices, &values),
            self.max.update(&indices, &values),
        ];
        for result in results {
            let at = match result {
                Err(Error::InvalidWeight { position, value, .. }) if fault < 3 => {
                    assert_eq!(value.to_bits(), values[position].to_bits());
                    position
                }
                Err(Error::BatchIndexOutOfRange { position, index, count, .. }) if fault == 3 => {
                    assert_eq!((index as usize, count), (self.model.len(), self.model.len()));
                    position
                }
                other => panic!("{other:?}"),
            };
            assert_eq!(at, position);
        }
    }

    fn check(&self, seed: u64) {
        let Self { model, sum, min, max } = self;
        let positive: Vec<f32> = model.iter().copied().filter(|&w| w > 0.0).collect();
        assert_eq!(sum.positive(), positive.len());
        assert_eq!(min.min(), positive.iter().copied().reduce(|a, b| if b < a { b } else { a }));
        assert_eq!(max.max(), positive.iter().copied().reduce(|a, b| if b > a { b } else { a }));
        let exponent = exponent(model);
        assert_eq!(sum.scale().exponent(), exponent);
        let sums = oracle::prefix_sums(model, exponent);
        let total = *sums.last().unwrap();
        assert_eq!(u128::from(sum.total()), total);
        assert!(total < 1 << 63);
        for (i, &w) in model.iter().enumerate() {
            for p in [sum.priority(i), min.priority(i), max.priority(i)] {
                assert_eq!(p.unwrap().to_bits(), (w + 0.0).to_bits(), "priority {i}");
            }
            assert_eq!(u128::from(sum.weight(i).unwrap()), oracle::quantize(w, exponent));
        }
        let mut fresh = Self::new(model.len());
        fresh.rebuild(model.clone());
        assert!(*sum == fresh.sum && *min == fresh.min && *max == fresh.max);
        if total == 0 {
            assert_eq!(
                sum.find(0),
                Err(Error::ThresholdOutOfRange {
                    operation: "SumTree::find",
                    position: 0,
                    threshold: 0,
                    min: 0,
                    end: 0
                })
            );
            return;
        }
        // Random thresholds, and both sides of some boundaries.
        let stream = Stream::new(seed, 0);
        let mut thresholds = vec![0, sum.total() - 1];
        thresholds.extend((0..20).map(|i| oracle::threshold(stream.block(i), 0, 1, sum.total())));
        for i in 0..20 {
            let boundary = sums[stream.word(1000 + i) as usize % sums.len()] as u64;
            thresholds.extend([boundary.saturating_sub(1), boundary].into_iter().filter(|&t| t < sum.total()));
        }
        let mut found = vec![0; thresholds.len()];
        sum.search(&thresholds, &mut found).unwrap();
        for (&t, &leaf) in thresholds.iter().zip(&found) {
            assert_eq!(Some(leaf as usize), oracle::find(&sums, t.into()));
            assert_eq!(sum.find(t), Ok(leaf));
            assert!(model[leaf as usize] > 0.0);
            let probability = oracle::ratio(sum.weight(leaf as usize).unwrap(), sum.total());
            assert_eq!(sum.probability(leaf as usize), Ok(probability));
        }
    }
}

/// Priorities of every kind, at the edges of powers of two and of the range too.
fn priority() -> impl Strategy<Value = f32> {
    prop_oneof![
        3 => Just(0.0_f32),
        1 => Just(-0.0_f32),
        4 => (1..4_u8).prop_map(f32::from),
        6 => 0.5_f32..8.0,
        2 => (-30..30_i32).prop_map(|e| 2_f32.powi(e)),
        1 => (-30..30_i32).prop_map(|e| 2_f32.powi(e).next_down()),
        1 => (0..0x7f80_0000_u32).prop_map(f32::from_bits),
        1 => (0..0x80_0000_u32).prop_map(f32::from_bits),
        1 => Just(f32::MAX),
    ]
}

#[derive(Clone, Debug)]
enum Operation {
    Update(Vec<(u32, f32)>),
    Rebuild(f32, u64),
    Clear,
    Refuse(Vec<(u32, f32)>, usize, u8),
}

fn operation(capacity: usize) -> impl Strategy<Value = Operation> {
    let end = capacity as u32;
    // Few leaves again and again, so that duplicates are common; the last ones too.
    let index = prop_oneof![0..end, 0..end.min(5), end.saturating_sub(3)..end];
    let batch = |n| prop::collection::vec((index.clone(), priority()), n);
    prop_oneof![
        8 => batch(0..150).prop_map(Operation::Update),
        4 => batch(1..4).prop_map(Operation::Update),
        1 => (priority(), any::<u64>()).prop_map(|(w, seed)| Operation::Rebuild(w, seed)),
        1 => Just(Operation::Clear),
        1 => (batch(1..150), any::<prop::sample::Index>(), 0..4_u8)
            .prop_map(|(batch, at, fault)| { let at = at.index(batch.len()); Operation::Refuse(batch, at, fault) }),
    ]
}

fn program() -> impl Strategy<Value = (usize, Vec<Operation>)> {
    // The edges of blocks, nodes and levels.
    let capacity = prop_oneof![1..40_usize, 250..260_usize, 4090..4100_usize, Just(2500_usize)];
    capacity.prop_flat_map(|capacity| (Just(capacity), prop::collection::vec(operation(capacity), 1..12)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn trees_are_what_the_model_says_after_any_program((capacity, program) in program(), seed in any::<u64>()) {
        let mut trio = Trio::new(capacity);
        trio.check(seed);
        for operation in program {
            match operation {
                Operation::Update(batch) => {
                    let (indices, values): (Vec<_>, Vec<_>) = batch.into_iter().unzip();
                    trio.update(&indices, &values);
                }
                Operation::Rebuild(w, seed) => {
                    let stream = Stream::new(seed, 0);
                    trio.rebuild((0..capacity as u64).map(|i| if stream.word(i).is_multiple_of(3) { w } else { 1.0 }).collect());
                }
                Operation::Clear => trio.update(&(0..capacity as u32).collect::<Vec<_>>(), &vec![0.0; capacity]),
                Operation::Refuse(batch, at, fault) => {
                    let (indices, values) = batch.into_iter().unzip();
                    trio.refuse(indices, values, at, fault);
                }
            }
            trio.check(seed);
        }
    }
}
