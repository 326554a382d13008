//! Random programs of operations on a replay, against a plain vector of items.

#[path = "replay_model/model.rs"]
mod model;
#[path = "replay_model/pair.rs"]
mod pair;

use pair::{Pair, Table};
use per_core::PrioritizedReplay;
use per_core::replay::{AllZero, Columns, Config, Draws, Handle, NewItems, Weights};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use std::path::Path;

/// An item: drawn by one of the last batches, or one of the last that were inserted (there, overwritten or removed).
type Choice = (bool, Index, Index);

#[derive(Clone, Debug)]
enum Operation {
    Insert(Option<f32>),
    InsertBatch(usize, bool),
    InsertBatchWith(Vec<f32>, bool),
    /// By TD errors (true) or priorities, strided or not.
    Set(Vec<(Choice, f32)>, bool, bool),
    Remove(Vec<Choice>),
    Clear,
    AllToZero,
    SetAlpha(f32),
    Draw(usize, f32, Option<u64>),
    Refused(u8),
    SaveLoad,
}

fn priority() -> impl Strategy<Value = f32> {
    prop_oneof![
        3 => Just(0.0_f32),
        1 => Just(-0.0_f32),
        4 => (1..4_u8).prop_map(f32::from),
        6 => 0.5_f32..8.0,
        2 => (-30..30_i32).prop_map(|e| 2_f32.powi(e)),
        1 => (0..0x7f80_0000_u32).prop_map(f32::from_bits),
        1 => (0..0x80_0000_u32).prop_map(f32::from_bits),
        1 => Just(f32::MAX),
    ]
}

fn operation(capacity: usize) -> impl Strategy<Value = Operation> {
    let choice = || (any::<bool>(), any::<Index>(), any::<Index>());
    let signed = (priority(), any::<bool>()).prop_map(|(p, minus)| if minus { -p } else { p });
    let td = prop::collection::vec((choice(), signed), 0..40).prop_map(|batch| (batch, true));
    let set = prop::collection::vec((choice(), priority()), 0..40).prop_map(|batch| (batch, false));
    // Across the ring's end, as large as the ring, and larger.
    let n = prop_oneof![0..4_usize, 0..=capacity, Just(capacity), capacity..2 * capacity + 4];
    let beta = prop_oneof![Just(0.0_f32), Just(1.0), Just(0.4), 0.0..1.0_f32];
    let index = prop_oneof![3 => Just(None), 1 => any::<u64>().prop_map(Some), 1 => Just(Some(u64::MAX - 2))];
    prop_oneof![
        4 => prop::option::of(priority()).prop_map(Operation::Insert),
        3 => (n.clone(), any::<bool>()).prop_map(|(n, strided)| Operation::InsertBatch(n, strided)),
        3 => (n.prop_flat_map(|n| prop::collection::vec(priority(), n)), any::<bool>())
            .prop_map(|(p, strided)| Operation::InsertBatchWith(p, strided)),
        5 => (prop_oneof![td, set], any::<bool>()).prop_map(|((batch, td), strided)| Operation::Set(batch, td, strided)),
        2 => prop::collection::vec(choice(), 0..12).prop_map(Operation::Remove),
        1 => Just(Operation::Clear),
        1 => Just(Operation::AllToZero),
        1 => select(&[0.0_f32, 0.3, 0.6, 1.0, 2.0, 40.0][..]).prop_map(Operation::SetAlpha),
        6 => (prop_oneof![0..10_usize, Just(40), 1..=capacity], beta, index).prop_map(|(b, beta, at)| Operation::Draw(b, beta, at)),
        2 => (0..14_u8).prop_map(Operation::Refused),
        1 => Just(Operation::SaveLoad),
    ]
}

fn config() -> impl Strategy<Value = Config> {
    let names = (
        select(&[Draws::Independent, Draws::Stratified, Draws::Distinct][..]),
        select(&[Weights::OverBuffer, Weights::OverBatch, Weights::Unnormalized][..]),
        select(&[NewItems::LargestNow, NewItems::LargestEver][..]),
        select(&[AllZero::Error, AllZero::Uniform][..]),
    );
    let sizes = (select(&[1_usize, 3, 16, 17, 100, 300][..]), select(&[0.0_f32, 0.3, 0.6, 1.0, 2.0][..]));
    let epsilon = select(&[0.0_f32, 1e-6, 0.5][..]);
    (names, sizes, epsilon, any::<u64>(), any::<u64>()).prop_map(
        |((draws, weights, new_items, all_zero), (capacity, alpha), epsilon, seed, stream)| {
            let config = Config { alpha, epsilon, seed, stream, ..Config::new(capacity) };
            Config { draws, weights, new_items, all_zero, ..config }
        },
    )
}

fn program() -> impl Strategy<Value = (Config, u64, Vec<Operation>)> {
    // Where numbers outgrow 32 bits, and far out.
    let start = select(&[0, 0, 1, (1 << 32) - 7, (1 << 63) - (1 << 20)][..]);
    (config(), start).prop_flat_map(|(config, start)| {
        let operations = prop::collection::vec(operation(config.capacity), 1..25);
        (Just(config), Just(start), operations)
    })
}

impl Pair {
    fn choose(&self, choices: &[Choice]) -> Vec<u64> {
        let (first, next) = (self.model.start, self.model.next);
        let recent = (next - first).min(3 * self.model.slots.len() as u64 + 2) as usize;
        let choose = |(drawn, batch, item): &Choice| match self.outstanding.len() {
            batches if *drawn && batches > 0 => {
                let batch = &self.outstanding[batch.index(batches)];
                (!batch.is_empty()).then(|| batch[item.index(batch.len())])
            }
            _ => (recent > 0).then(|| next - 1 - item.index(recent) as u64),
        };
        choices.iter().filter_map(choose).collect()
    }

    fn run(&mut self, operation: Operation, folder: &Path) {
        match operation {
            Operation::Insert(priority) => self.insert(1, priority.as_ref().map(std::slice::from_ref), true, false),
            Operation::InsertBatch(n, strided) => self.insert(n, None, false, strided),
            Operation::InsertBatchWith(priorities, strided) => {
                self.insert(priorities.len(), Some(&priorities), false, strided);
            }
            Operation::Set(batch, td, strided) => {
                let (choices, mut values): (Vec<_>, Vec<_>) = batch.into_iter().unzip();
                let numbers = self.choose(&choices);
                values.truncate(numbers.len());
                self.set(&numbers, &values, td, strided);
            }
            Operation::Remove(choices) => self.remove(&self.choose(&choices)),
            Operation::Clear => self.clear(),
            Operation::AllToZero => {
                let numbers: Vec<u64> = self.model.items().map(|item| item.number).collect();
                self.set(&numbers, &vec![0.0; numbers.len()], false, false);
            }
            Operation::SetAlpha(alpha) => self.set_alpha(alpha),
            Operation::Draw(draws, beta, at) => self.draw(draws, beta, at),
            Operation::Refused(kind) => self.refused(kind),
            Operation::SaveLoad => {
                let path = folder.join("replay.safetensors");
                self.replay.save(&path).unwrap();
                let loaded = PrioritizedReplay::load(&path).unwrap();
                assert_eq!(loaded.columns(), self.replay.columns());
                self.replay = loaded;
            }
        }
    }

    /// Operations that are wrong in one thing.
    fn refused(&mut self, kind: u8) {
        let table = Table::new(&[1, 2, 3]);
        let (good, other) = (table.rows(self.columns, false), Table::new(&[4]));
        let known = [Handle::from_number(self.model.start); 3];
        let unknown = [known[0], Handle::from_number(self.model.next), known[0]];
        let replay = &mut self.replay;
        let refused = match kind {
            0 => replay.insert_batch_with_priorities(&good, &[1e9, f32::NAN, 1.0]).is_err(),
            1 => replay.insert_batch_with_priorities(&good, &[1e9, 1.0, -1.0]).is_err(),
            2 => replay.insert_batch_with_priorities(&good, &[1e9, 1.0]).is_err(),
            3 => replay.insert(&good).is_err(),
            4 => replay.insert_batch(&good[1..]).is_err(),
            5 => replay.insert_batch(&[&good[..], &good[..1]].concat()).is_err(),
            6 => replay.insert_batch(&[&good[1..], &[self.columns.action.rows(&[4, 5])]].concat()).is_err(),
            7 => replay.update_priorities(&unknown, &[7.0, 7.0, 7.0]).is_err(),
            8 => replay.remove(&unknown).is_err(),
            9 if known[0] < unknown[1] => {
                replay.update_priorities(&known, &[1e9, f32::NEG_INFINITY, 1.0]).is_err()
                    && replay.set_priorities(&known, &[1e9, -1e-45, 1.0]).is_err()
                    && replay.set_priorities(&known, &[1e9, 1.0]).is_err()
            }
            10 => replay.set_alpha(f32::NAN).is_err() && replay.set_alpha(-0.5).is_err(),
            11 => {
                let mut batch = replay.batch(5).unwrap();
                let betas = [1.0001, -0.1, f32::NAN];
                betas.into_iter().all(|beta| replay.sample_proportional(&mut batch, beta).is_err())
            }
            12 => {
                let mut foreign = PrioritizedReplay::new(Config::new(2), Columns::new()).unwrap().batch(3).unwrap();
                replay.sample_proportional(&mut foreign, 0.4).is_err()
            }
            _ => {
                let rows = other.rows(self.columns, true);
                replay.insert_with_priority(&rows, f32::INFINITY).is_err() && replay.save("/nowhere/at/all").is_err()
            }
        };
        assert!(refused, "{kind}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_replay_is_what_the_model_says_after_any_program((config, start, program) in program()) {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("replay_model");
        std::fs::create_dir_all(&folder).unwrap();
        let mut pair = Pair::new(config, start);
        pair.check();
        for operation in program {
            pair.run(operation, &folder);
            pair.check();
        }
    }
}
