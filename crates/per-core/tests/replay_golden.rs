//! A replay's bits, written down: on another machine, or with another instruction set, they must be these.

use arith::random::Stream;
use per_core::PrioritizedReplay;
use per_core::replay::{AllZero, Columns, Config, Draws, Episodes, NStep, NewItems, Weights};

/// FNV-1a (64 bits) of all that [`run`] sees. A change of these digits is a breaking change.
const GOLDEN: &str = "710930ea1918b652";

/// FNV-1a: <http://www.isthe.com/chongo/tech/comp/fnv/>.
struct Digest(u64);

impl Digest {
    fn add(&mut self, words: impl IntoIterator<Item = u32>) {
        for byte in words.into_iter().flat_map(u32::to_le_bytes) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn add_floats(&mut self, floats: &[f32]) {
        self.add(floats.iter().map(|f| f.to_bits()));
    }
}

/// Every kind of draw and of weights, over a ring that is overwritten, updated, thinned out and in the end all zero.
fn run() -> String {
    let mut digest = Digest(0xcbf2_9ce4_8422_2325);
    for draws in [Draws::Independent, Draws::Stratified, Draws::Distinct] {
        for weights in [Weights::OverBuffer, Weights::OverBatch, Weights::Unnormalized] {
            for (new_items, alpha) in [(NewItems::LargestNow, 0.6), (NewItems::LargestEver, 0.35)] {
                program(&mut digest, |config| {
                    (config.draws, config.weights, config.new_items, config.alpha) = (draws, weights, new_items, alpha);
                });
            }
        }
    }
    format!("{:016x}", digest.0)
}

fn program(digest: &mut Digest, change: impl FnOnce(&mut Config)) {
    let mut columns = Columns::new();
    let terminated = columns.add::<u8>("terminated", 1).unwrap();
    let reward = columns.add::<f32>("reward", 1).unwrap();
    let next = columns.add_last::<i32>("next", 1).unwrap();
    let mut config = Config {
        seed: 0x5eed,
        stream: 3,
        all_zero: AllZero::Uniform,
        environments: 4,
        episodes: Some(Episodes { terminated, truncated: None }),
        n_step: Some(NStep { steps: 5, discount: 0.99, reward }),
        ..Config::new(1001)
    };
    change(&mut config);
    let mut replay = PrioritizedReplay::new(config, columns).unwrap();
    let numbers = Stream::new(17, 0);
    // 75 draws: whole vectors and a rest.
    let mut batch = replay.sequences(75, 3).unwrap();
    for round in 0..40_u64 {
        let at = round << 20;
        let rewards: Vec<f32> = (0..90).map(|i| numbers.normal(at + i)).collect();
        let ends: Vec<u8> = (0..90).map(|i| u8::from(numbers.word(at + 1000 + i).is_multiple_of(9))).collect();
        let nexts: Vec<i32> = (0..90).map(|i| numbers.word(at + 2000 + i).cast_signed()).collect();
        let rows = [reward.rows(&rewards), terminated.rows(&ends), next.rows(&nexts)];
        let inserted = if round % 3 == 0 {
            let priorities: Vec<f32> = (0..90).map(|i| arith::exp(3.0 * numbers.normal(at + 3000 + i))).collect();
            replay.insert_batch_with_priorities(&rows, &priorities).unwrap()
        } else {
            replay.insert_batch(&rows).unwrap()
        };
        let first = inserted.into_iter().next().unwrap();
        replay.sample_proportional(&mut batch, 0.4 + 0.015 * round as f32).unwrap();
        digest.add(batch.indices().iter().chain(batch.lengths()).chain(batch.spans()).copied());
        digest.add(batch.handles().iter().flat_map(|h| [h.number() as u32, (h.number() >> 32) as u32]));
        [batch.weights(), batch.returns(), batch.discounts()].iter().for_each(|floats| digest.add_floats(floats));
        digest.add(batch.rows(next).unwrap().iter().map(|n| n.cast_unsigned()));
        let errors: Vec<f32> = (0..75).map(|i| numbers.normal(at + 4000 + i)).collect();
        replay.update_priorities(batch.handles(), &errors).unwrap();
        replay.remove(&[first]).unwrap();
        let total = replay.total_priority().to_bits();
        digest.add([total as u32, (total >> 32) as u32]);
        digest.add_floats(&[replay.min_priority().unwrap(), replay.max_priority().unwrap()]);
    }
    // As if there were no priorities.
    let all: Vec<_> = (0..1001).filter_map(|slot| replay.handle(slot)).collect();
    replay.set_priorities(&all, &vec![0.0; all.len()]).unwrap();
    replay.sample_proportional(&mut batch, 1.0).unwrap();
    digest.add(batch.indices().iter().copied());
}

#[test]
fn draws_weights_and_returns_have_these_bits() {
    assert_eq!(run(), GOLDEN);
}

/// Draws from a replay that is only read: by threads at the same time as one after the other.
#[test]
fn threads_draw_what_one_draws() {
    let mut columns = Columns::new();
    let column = columns.add::<i32>("number", 1).unwrap();
    let mut replay = PrioritizedReplay::new(Config::new(3000), columns).unwrap();
    let priorities: Vec<f32> = (0..2500).map(|i| (i % 41) as f32).collect();
    let numbers: Vec<i32> = (0..2500).collect();
    replay.insert_batch_with_priorities(&[column.rows(&numbers)], &priorities).unwrap();
    let draw = |first: u64| {
        let mut batch = replay.batch(64).unwrap();
        let mut all = vec![];
        for index in (first..first + 6400).step_by(64) {
            replay.sample_proportional_at(index, &mut batch, 0.6).unwrap();
            all.push((batch.rows(column).unwrap().to_vec(), batch.weights().to_vec()));
        }
        all
    };
    let firsts = [0, 6400, 12_800, 19_200];
    let serial = firsts.map(draw);
    let together = std::thread::scope(|scope| firsts.map(|first| scope.spawn(move || draw(first))).map(|t| t.join()));
    for (serial, together) in serial.iter().zip(together) {
        assert!(*serial == together.unwrap());
    }
    assert_eq!(replay.draws_made(), 0);
    // And as the replay's own count has it.
    let mut batch = replay.batch(64).unwrap();
    for expected in serial.iter().flatten() {
        replay.sample_proportional(&mut batch, 0.6).unwrap();
        assert_eq!((batch.rows(column).unwrap(), batch.weights()), (&expected.0[..], &expected.1[..]));
    }
}

/// The child of the test below.
#[test]
#[ignore = "run by the_bits_do_not_depend_on_the_instruction_set, in a process of its own"]
fn child() {
    test_support::isa::print(arith::simd::Isa::detect(), &run());
}

#[test]
fn the_bits_do_not_depend_on_the_instruction_set() {
    test_support::isa::assert_same_bits(GOLDEN, arith::simd::Isa::detect());
}
