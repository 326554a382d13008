//! Everything that is refused: with which error, which position and value; and that nothing has changed then.

use half::bf16;
use ndarray::Array2;
use per_core::PrioritizedReplay;
use per_core::replay::{AllZero, Column, Columns, Config, Draws, Dtype, Episodes, Error, Handle, NStep, NewItems};

struct Made {
    replay: PrioritizedReplay,
    state: Column<f32>,
    action: Column<i32>,
}

/// Items 0 to 4 in a ring of 4, item 2 removed: priorities 16, -, 8, 4 from slot 0 on.
fn made(config: Config) -> Made {
    let mut columns = Columns::new();
    let state = columns.add::<f32>("state", 2).unwrap();
    let action = columns.add::<i32>("action", 1).unwrap();
    let mut replay = PrioritizedReplay::new(config, columns).unwrap();
    let rows = [state.rows(&[1.0; 10]), action.rows(&[1; 5])];
    replay.insert_batch_with_priorities(&rows, &[1.0, 2.0, 4.0, 8.0, 16.0]).unwrap();
    replay.remove(&[Handle::from_number(2)]).unwrap();
    Made { replay, state, action }
}

fn plain() -> Config {
    Config { alpha: 1.0, epsilon: 0.5, new_items: NewItems::LargestEver, ..Config::new(4) }
}

impl Made {
    /// All that a draw or an insertion could show, by doing it to a copy.
    fn seen(&self) -> impl PartialEq + std::fmt::Debug + use<> {
        let mut copy = self.replay.clone();
        let mut batch = copy.batch(20).unwrap();
        let drawn = copy.sample_proportional(&mut batch, 0.5).is_ok();
        let next = copy.insert(&[self.state.rows(&[5.0; 2]), self.action.rows(&[5])]).unwrap();
        let priorities: Vec<_> = (0..copy.inserted()).map(|n| self.replay.priority(Handle::from_number(n))).collect();
        let bits: Vec<u32> = batch.weights().iter().map(|w| w.to_bits()).collect();
        let rows = [batch.rows(self.state).unwrap().to_vec(), vec![copy.priority(next).unwrap()]];
        let counts = (self.replay.len(), self.replay.inserted(), self.replay.draws_made(), next, drawn);
        (
            priorities,
            self.replay.total_priority(),
            counts,
            self.replay.config().clone(),
            batch.indices().to_vec(),
            bits,
            rows,
        )
    }

    /// The error of an operation that must change nothing.
    fn refused<T: std::fmt::Debug>(
        &mut self,
        operation: impl FnOnce(&mut PrioritizedReplay) -> Result<T, Error>,
    ) -> Error {
        let before = self.seen();
        let error = operation(&mut self.replay).unwrap_err();
        assert_eq!(self.seen(), before, "{error}");
        // It says so in words.
        assert!(error.to_string().len() > 10);
        error
    }
}

macro_rules! assert_error {
    ($error:expr, $pattern:pat $(if $guard:expr)?) => {
        let error = $error;
        assert!(matches!(&error, $pattern $(if $guard)?), "{error:?}");
    };
}

fn handles(numbers: &[u64]) -> Vec<Handle> {
    numbers.iter().map(|&n| Handle::from_number(n)).collect()
}

#[test]
fn rows_that_do_not_fit() {
    let mut made = made(plain());
    let (state, action) = (made.state, made.action);
    let good = [state.rows(&[1.0, 2.0]), action.rows(&[3])];
    assert_error!(made.refused(|r| r.insert(&good[..1])), Error::ColumnMissing { name } if name == "action");
    assert_error!(made.refused(|r| r.insert(&[])), Error::ColumnMissing { name } if name == "state");
    assert_error!(made.refused(|r| r.insert_batch(&[])), Error::ColumnMissing { name } if name == "state");
    let twice = [good[1].clone(), good[0].clone(), good[1].clone()];
    assert_error!(made.refused(|r| r.insert_batch(&twice)), Error::ColumnTwice { name } if name == "action");
    let odd = [state.rows(&[1.0, 2.0, 3.0]), action.rows(&[3])];
    assert_error!(
        made.refused(|r| r.insert_batch(&odd)),
        Error::RowLength { name, width: 2, elements: 3 } if name == "state"
    );
    let (narrow, tall) = (Array2::zeros((1, 3)), Array2::zeros((2, 1)));
    assert_error!(
        made.refused(|r| r.insert_batch(&[state.view(&narrow), action.rows(&[3])])),
        Error::RowWidth { name, expected: 2, got: 3 } if name == "state"
    );
    assert_error!(
        made.refused(|r| r.insert_batch(&[good[0].clone(), action.view(&tall)])),
        Error::RowCount { name, expected: 1, got: 2 } if name == "action"
    );
    let two = [state.rows(&[1.0; 4]), action.rows(&[3; 2])];
    for single in [true, false] {
        let error = made.refused(|r| if single { r.insert(&two) } else { r.insert_with_priority(&two, 1.0) });
        assert_error!(error, Error::RowCount { name, expected: 1, got: 2 } if name == "state");
    }
    let none = [state.rows(&[]), action.rows(&[])];
    assert_error!(made.refused(|r| r.insert(&none)), Error::RowCount { expected: 1, got: 0, .. });
    assert_eq!(made.replay.insert_batch(&none).unwrap().len(), 0);
}

#[test]
fn columns_of_another_replay() {
    let mut made = made(plain());
    let (state, action) = (made.state, made.action);
    let mut others = Columns::new();
    let wide = others.add::<f32>("state", 3).unwrap();
    let float = others.add::<f32>("action", 1).unwrap();
    let third = others.add::<bf16>("third", 1).unwrap();
    let foreign = |error: Error, at: (usize, Dtype, usize)| {
        assert_error!(error, &Error::ForeignColumn { index, dtype, width } if (index, dtype, width) == at);
    };
    let rows = [wide.rows(&[1.0; 3]), action.rows(&[3])];
    foreign(made.refused(|r| r.insert(&rows)), (0, Dtype::F32, 3));
    let rows = [state.rows(&[1.0; 2]), float.rows(&[3.0])];
    foreign(made.refused(|r| r.insert_batch(&rows)), (1, Dtype::F32, 1));
    let rows = [state.rows(&[1.0; 2]), action.rows(&[3]), third.rows(&[bf16::ONE])];
    foreign(made.refused(|r| r.insert_with_priority(&rows, 1.0)), (2, Dtype::Bf16, 1));
    foreign(made.refused(|r| r.insert_batch_with_priorities(&rows, &[1.0])), (2, Dtype::Bf16, 1));
    let there = Handle::from_number(4);
    foreign(made.refused(|r| r.read(there, wide, &mut [0.0; 3])), (0, Dtype::F32, 3));
    foreign(made.refused(|r| r.read(there, third, &mut [bf16::ONE])), (2, Dtype::Bf16, 1));
    assert_error!(
        made.refused(|r| r.read(there, state, &mut [0.0; 3])),
        Error::LengthMismatch { operation: "PrioritizedReplay::read", what: "out", expected: 2, got: 3 }
    );
    let batch = made.replay.batch(2).unwrap();
    foreign(batch.rows(wide).unwrap_err(), (0, Dtype::F32, 3));
    foreign(batch.matrix(float).unwrap_err(), (1, Dtype::F32, 1));
    foreign(batch.sequence(third).unwrap_err(), (2, Dtype::Bf16, 1));

    // In settings.
    let flags = others.add::<u8>("flags", 2).unwrap();
    let flag = others.add::<u8>("flag", 1).unwrap();
    let new = |change: &dyn Fn(&mut Config), columns: &Columns| {
        let mut config = plain();
        change(&mut config);
        PrioritizedReplay::new(config, columns.clone()).unwrap_err()
    };
    let own = made.replay.columns();
    let ends = |terminated, truncated| Some(Episodes { terminated, truncated });
    foreign(new(&|c| c.episodes = ends(flag, None), own), (4, Dtype::U8, 1));
    foreign(new(&|c| c.episodes = ends(flag, Some(flags)), own), (4, Dtype::U8, 1));
    foreign(new(&|c| c.n_step = Some(NStep { steps: 1, discount: 0.5, reward: float }), own), (1, Dtype::F32, 1));
    for (terminated, truncated, at) in [(flags, None, "episodes.terminated"), (flag, Some(flags), "episodes.truncated")]
    {
        let error = new(&|c| c.episodes = ends(terminated, truncated), &others);
        assert_error!(error, &Error::Setting { name, value: 2.0, .. } if name == at);
    }
    let error = new(&|c| c.n_step = Some(NStep { steps: 1, discount: 0.5, reward: wide }), &others);
    assert_error!(error, Error::Setting { name: "n_step.reward", value: 3.0, .. });
}

#[test]
fn columns_that_can_not_be() {
    let mut columns = Columns::new();
    columns.add::<f32>("a", 1).unwrap();
    for (name, width) in [("", 1), ("a", 1), ("b", 0), ("b", usize::MAX), ("b", usize::MAX / 4), ("b", 1 << 28)] {
        let before = columns.clone();
        assert_error!(columns.add::<f32>(name, width).unwrap_err(), Error::Column { name: n, .. } if n == name);
        assert_error!(columns.add_last::<f32>(name, width).unwrap_err(), Error::Column { name: n, .. } if n == name);
        assert_eq!(columns, before);
    }
    columns.add::<f32>("b", (1 << 28) - 1).unwrap();
    assert_eq!(columns.item_bytes(), 1 << 30);
    assert_error!(columns.find::<f32>("c").unwrap_err(), Error::NoSuchColumn { name } if name == "c");
    assert_error!(
        columns.find::<u8>("a").unwrap_err(),
        Error::ColumnType { name, expected: Dtype::F32, got: Dtype::U8 } if name == "a"
    );
    // 2^50 bytes: more than any system gives.
    assert_error!(
        PrioritizedReplay::new(Config::new(1 << 20), columns).unwrap_err(),
        Error::OutOfMemory { items: 1_048_576, item_bytes: 1_073_741_824 }
    );
    let mut many = Columns::new();
    for i in 0..256 {
        many.add::<u8>(&i.to_string(), 1).unwrap();
    }
    assert_error!(many.add::<u8>("one more", 1).unwrap_err(), Error::Column { .. });
    assert_eq!(many.len(), 256);
    // All of them are looked for.
    let mut replay = PrioritizedReplay::new(plain(), many.clone()).unwrap();
    let of = |i: usize| many.find::<u8>(&i.to_string()).unwrap().rows(&[7]);
    let mut rows: Vec<_> = (0..256).map(of).collect();
    replay.insert(&rows).unwrap();
    rows.swap_remove(200);
    assert_error!(replay.insert(&rows).unwrap_err(), Error::ColumnMissing { name } if name == "200");
    rows.push(of(255));
    assert_error!(replay.insert(&rows).unwrap_err(), Error::ColumnTwice { name } if name == "255");
}

#[test]
fn settings_that_can_not_be() {
    let error = |change: &dyn Fn(&mut Config)| {
        let (mut config, mut columns) = (plain(), Columns::new());
        columns.add::<f32>("reward", 1).unwrap();
        change(&mut config);
        PrioritizedReplay::new(config, columns).unwrap_err()
    };
    for wrong in [f32::NAN, f32::INFINITY, -1e-45] {
        assert_error!(error(&|c| c.alpha = wrong), Error::Setting { name: "alpha", value, .. }
            if value.to_bits() == f64::from(wrong).to_bits());
        assert_error!(error(&|c| c.epsilon = wrong), Error::Setting { name: "epsilon", value, .. }
            if value.to_bits() == f64::from(wrong).to_bits());
    }
    assert_error!(error(&|c| c.environments = 0), Error::Setting { name: "environments", value: 0.0, .. });
    let mut columns = Columns::new();
    let reward = columns.add::<f32>("reward", 1).unwrap();
    assert_error!(
        error(&|c| c.n_step = Some(NStep { steps: 0, discount: 0.5, reward })),
        Error::Setting { name: "n_step.steps", value: 0.0, .. }
    );
    for discount in [f32::NAN, -1e-45, 1.0_f32.next_up()] {
        assert_error!(
            error(&|c| c.n_step = Some(NStep { steps: 1, discount, reward })),
            Error::Setting { name: "n_step.discount", .. }
        );
    }
    assert_error!(error(&|c| c.capacity = 0), Error::Setting { name: "capacity", value: 0.0, .. });
    assert_error!(error(&|c| c.capacity = 1 << 31), Error::Setting { name: "capacity", value: 2_147_483_648.0, .. });
    assert_error!(
        PrioritizedReplay::starting_at(plain(), columns, (1 << 63) + 1).unwrap_err(),
        Error::Setting { name: "inserted", .. }
    );
}

#[test]
fn priorities_that_can_not_be() {
    let mut made = made(plain());
    let (state, action) = (made.state, made.action);
    let (one, two) = ([state.rows(&[1.0; 2]), action.rows(&[3])], [state.rows(&[1.0; 4]), action.rows(&[3; 2])]);
    let known = handles(&[4, 2, 3]);
    for wrong in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -1e-45, -1.0] {
        let values = [99.0, 99.0, wrong];
        let is = |at: usize, value: f32, position: usize| (position, value.to_bits()) == (at, wrong.to_bits());
        assert_error!(made.refused(|r| r.insert_with_priority(&one, wrong)),
            &Error::InvalidPriority { operation: "PrioritizedReplay::insert_with_priority", position, value }
            if is(0, value, position));
        assert_error!(made.refused(|r| r.insert_batch_with_priorities(&two, &values[1..])),
            &Error::InvalidPriority { operation: "PrioritizedReplay::insert_batch_with_priorities", position, value }
            if is(1, value, position));
        assert_error!(made.refused(|r| r.set_priorities(&known, &values)),
            &Error::InvalidPriority { operation: "PrioritizedReplay::set_priorities", position, value }
            if is(2, value, position));
        if !wrong.is_finite() {
            assert_error!(made.refused(|r| r.update_priorities(&known, &values)),
                &Error::InvalidTdError { operation: "PrioritizedReplay::update_priorities", position, value }
                if is(2, value, position));
        }
    }
    assert_error!(
        made.refused(|r| r.insert_batch_with_priorities(&two, &[99.0])),
        Error::LengthMismatch { what: "priorities", expected: 2, got: 1, .. }
    );
    assert_error!(
        made.refused(|r| r.set_priorities(&known, &[99.0; 4])),
        Error::LengthMismatch { what: "priorities", expected: 3, got: 4, .. }
    );
    assert_error!(
        made.refused(|r| r.update_priorities(&known, &[99.0; 2])),
        Error::LengthMismatch { what: "td_errors", expected: 3, got: 2, .. }
    );
    for (unknown, position) in [(handles(&[4, 5, 9]), 1), (handles(&[u64::MAX, 4, 5]), 0), (handles(&[4, 3, 5]), 2)] {
        let number = unknown[position].number();
        let errors = [
            made.refused(|r| r.update_priorities(&unknown, &[99.0; 3])),
            made.refused(|r| r.set_priorities(&unknown, &[99.0; 3])),
            made.refused(|r| r.remove(&unknown)),
        ];
        for error in errors {
            assert_error!(error, &Error::UnknownHandle { position: p, handle, inserted: 5, .. } if (p, handle) == (position, number));
        }
    }
}

#[test]
fn powers_that_overflow() {
    let mut made = made(Config { alpha: 2.0, ..plain() });
    let (state, action) = (made.state, made.action);
    let two = [state.rows(&[1.0; 4]), action.rows(&[3; 2])];
    let known = handles(&[4, 3]);
    // 2^64 squared is the first power of two past the range.
    let large = 2_f32.powi(64);
    let overflow = |error: Error| {
        assert_error!(error, &Error::PriorityOverflow { position: 1, value, alpha: 2.0, .. } if value == large);
    };
    overflow(made.refused(|r| r.insert_batch_with_priorities(&two, &[9.0, large])));
    overflow(made.refused(|r| r.set_priorities(&known, &[9.0, large])));
    overflow(made.refused(|r| r.update_priorities(&known, &[9.0, -large])));
    made.replay.set_priorities(&known, &[9.0, large.next_down()]).unwrap();
    assert!(made.replay.max_priority() == Some(large.next_down()) && made.replay.total_priority() < 3.5e38);

    // The sum with epsilon.
    let mut made = self::made(Config { epsilon: f32::MAX, alpha: 0.0, ..plain() });
    assert_error!(
        made.refused(|r| r.update_priorities(&known, &[0.0, f32::MAX])),
        Error::PriorityOverflow { position: 1, value: f32::INFINITY, alpha: 0.0, .. }
    );

    // A change of alpha: an item's priority, by slot, or the largest that there ever was.
    let mut made = self::made(plain());
    made.replay.set_priorities(&known[1..], &[large]).unwrap();
    assert_error!(
        made.refused(|r| r.set_alpha(2.0)),
        Error::PriorityOverflow { operation: "PrioritizedReplay::set_alpha", position: 3, .. }
    );
    made.replay.remove(&known[1..]).unwrap();
    assert_error!(made.refused(|r| r.set_alpha(2.0)), Error::Setting { name: "alpha", value: 2.0, .. });
    for alpha in [f32::NAN, f32::INFINITY, -0.5] {
        assert_error!(made.refused(|r| r.set_alpha(alpha)), Error::Setting { name: "alpha", .. });
    }
    made.replay.set_alpha(1.5).unwrap();
}

#[test]
fn draws_that_can_not_be() {
    let reward_columns = || {
        let mut columns = Columns::new();
        let reward = columns.add::<f32>("reward", 1).unwrap();
        (columns, reward)
    };
    for draws in [Draws::Independent, Draws::Stratified, Draws::Distinct] {
        for all_zero in [AllZero::Error, AllZero::Uniform] {
            let mut made = made(Config { draws, all_zero, ..plain() });
            let mut batch = made.replay.batch(4).unwrap();
            let before = format!("{batch:?}");
            for beta in [f32::NAN, -1e-45, 1.0_f32.next_up(), f32::INFINITY] {
                for at in [true, false] {
                    let error = made.refused(|r| match at {
                        true => r.sample_proportional_at(7, &mut batch, beta),
                        false => r.sample_proportional(&mut batch, beta),
                    });
                    assert_error!(error, Error::InvalidBeta { value } if value.to_bits() == beta.to_bits());
                }
            }
            // 3 items are there.
            let few = |error| {
                assert_error!(error, Error::TooFewItems { draws: 4, items: 3 });
            };
            if draws == Draws::Distinct {
                few(made.refused(|r| r.sample_proportional(&mut batch, 0.5)));
            }
            made.replay.set_priorities(&handles(&[1, 3, 4]), &[0.0; 3]).unwrap();
            if all_zero == AllZero::Error {
                assert_error!(made.refused(|r| r.sample_proportional(&mut batch, 0.5)), Error::AllZero { items: 3 });
            } else if draws == Draws::Distinct {
                few(made.refused(|r| r.sample_proportional(&mut batch, 0.5)));
            }
            made.replay.clear();
            assert_error!(made.refused(|r| r.sample_proportional(&mut batch, 0.5)), Error::NoItems);
            assert_eq!(format!("{batch:?}"), before, "the batch is as it was");

            let (columns, reward) = reward_columns();
            let n_step = Some(NStep { steps: 2, discount: 0.9, reward });
            let mut others = [
                PrioritizedReplay::new(plain(), columns.clone()).unwrap(),
                PrioritizedReplay::new(Config { n_step, ..plain() }, columns).unwrap(),
            ];
            for other in &others {
                let mut foreign = other.batch(1).unwrap();
                assert_error!(made.refused(|r| r.sample_proportional(&mut foreign, 0.5)), Error::ForeignBatch);
            }
            for other in &mut others {
                other.insert(&[reward.rows(&[1.0])]).unwrap();
            }
            let [mut a, mut b] = others.each_ref().map(|other| other.batch(1).unwrap());
            assert_error!(others[0].sample_proportional(&mut b, 0.5).unwrap_err(), Error::ForeignBatch);
            assert_error!(others[1].sample_proportional(&mut a, 0.5).unwrap_err(), Error::ForeignBatch);
        }
    }
    let made = made(plain());
    for (draws, steps) in [(usize::MAX, 1), (1 << 32, 1), (1 << 20, 1 << 20), (3, usize::MAX), ((1 << 32) - 1, 1)] {
        let error = made.replay.sequences(draws, steps).unwrap_err();
        assert_error!(error, &Error::BatchTooLarge { draws: d, steps: s } if (d, s) == (draws, steps));
    }
    assert_error!(made.replay.sequences(1, 0).unwrap_err(), Error::Setting { name: "steps", value: 0.0, .. });
}

/// Sizes for which there is no memory, or no number: refused, not aborted.
#[test]
fn sizes_that_can_not_be() {
    let mut columns = Columns::new();
    let x = columns.add::<u8>("x", 1 << 20).unwrap();
    let replay = PrioritizedReplay::new(Config::new(4), columns).unwrap();
    for (draws, steps) in [(1 << 31, 1), (usize::MAX, 2), (1 << 16, 1 << 15), (1, u32::MAX as usize), (0, usize::MAX)] {
        assert_error!(replay.sequences(draws, steps).unwrap_err(), Error::BatchTooLarge { draws: d, steps: s } if (*d, *s) == (draws, steps));
    }
    // Before its first draw a batch has handles of no item.
    let mut columns = Columns::new();
    let y = columns.add::<f32>("y", 1).unwrap();
    let mut replay = PrioritizedReplay::starting_at(Config::new(4), columns, (1 << 63) - 3).unwrap();
    replay.insert_batch(&[y.rows(&[1.0, 2.0])]).unwrap();
    let batch = replay.batch(2).unwrap();
    let error = replay.update_priorities(batch.handles(), &[50.0, 50.0]).unwrap_err();
    assert_error!(error, Error::UnknownHandle { position: 0, .. });
    // Numbers end at 2^63, and a batch at 2^31 items.
    assert_error!(replay.insert_batch(&[y.rows(&[1.0, 2.0])]).unwrap_err(), Error::Setting { name: "inserted", .. });
    let one = ndarray::arr2(&[[1.0_f32]]);
    let many = one.broadcast((1 << 40, 1)).unwrap();
    assert_error!(replay.insert_batch(&[y.view(many)]).unwrap_err(), Error::TooManyItems { got, .. } if *got == 1 << 40);
    let priorities = ndarray::arr1(&[1.0_f32]);
    let priorities = priorities.broadcast(1 << 40).unwrap();
    let error = replay.insert_batch_with_priorities(&[y.view(many)], priorities).unwrap_err();
    assert_error!(error, Error::TooManyItems { .. });
    assert_eq!((replay.len(), replay.inserted()), (2, (1 << 63) - 1));
    replay.insert(&[y.rows(&[3.0])]).unwrap();
    assert_error!(replay.insert(&[y.rows(&[3.0])]).unwrap_err(), Error::Setting { name: "inserted", .. });
    assert_eq!(x.width(), 1 << 20);
    // Scratch of any size is a hint.
    let _ = (per_core::DistinctScratch::new(usize::MAX), per_core::Cdf::with_capacity(usize::MAX));
    let _ = per_core::resample::Scratch::with_capacity(usize::MAX, usize::MAX);
}
