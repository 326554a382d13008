//! Cases that broke other replay buffers, with values computed from the definitions.

use ndarray::{Array1, Array2, s};
use per_core::replay::{
    AllZero, Batch, BetaSchedule, Column, Columns, Config, Draws, Error, Handle, NewItems, Updated, Weights,
};
use per_core::{PrioritizedReplay, oracle};

/// A replay of numbers.
fn made(config: Config) -> (PrioritizedReplay, Column<i32>) {
    let mut columns = Columns::new();
    let column = columns.add("number", 1).unwrap();
    (PrioritizedReplay::new(config, columns).unwrap(), column)
}

/// Items with these priorities, alpha 1.
fn filled(config: Config, priorities: &[f32]) -> (PrioritizedReplay, Column<i32>, Vec<Handle>) {
    let (mut replay, column) = made(config);
    let numbers: Vec<i32> = (0..priorities.len() as i32).collect();
    let handles = replay.insert_batch_with_priorities(&[column.rows(&numbers)], priorities).unwrap().collect();
    (replay, column, handles)
}

fn plain(capacity: usize) -> Config {
    Config { alpha: 1.0, epsilon: 0.0, ..Config::new(capacity) }
}

fn sampled(replay: &mut PrioritizedReplay, draws: usize, beta: f32) -> Batch {
    let mut batch = replay.batch(draws).unwrap();
    replay.sample_proportional(&mut batch, beta).unwrap();
    batch
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|v| v.to_bits()).collect()
}

const EVERY_DRAW: [Draws; 3] = [Draws::Independent, Draws::Stratified, Draws::Distinct];

#[test]
fn case_1_and_2_nothing_without_priority_is_drawn() {
    for priorities in
        [&[16777218.0, 0.0, 1.0, 0.0][..], &[0.7, 0.6, 0.001, 0.0], &[0.0, 1.0, 0.0, 1.0], &[1.0, 1.0, 0.0, 0.0]]
    {
        for draws in [Draws::Independent, Draws::Stratified] {
            let (mut replay, ..) = filled(Config { draws, ..plain(4) }, priorities);
            let batch = sampled(&mut replay, 20_000, 0.4);
            assert!(batch.indices().iter().all(|&i| priorities[i as usize] > 0.0), "{priorities:?}");
            let end = replay.powers().total() - 1;
            let last = priorities.iter().rposition(|&p| p > 0.0).unwrap() as u32;
            assert_eq!(replay.powers().find(end), Ok(last));
        }
    }
    let (replay, ..) = filled(plain(3), &[10.0, 5.0, 2.0]);
    let unit = replay.powers().total() / 17;
    let mut counts = [0; 3];
    (0..17).for_each(|t| counts[replay.powers().find(t * unit).unwrap() as usize] += 1);
    assert_eq!(counts, [10, 5, 2]);
}

#[test]
fn case_3_totals_keep_nothing_of_what_was() {
    let (mut replay, _, handles) = filled(plain(2), &[1e8, 1.0]);
    replay.set_priorities(&handles[..1], &[0.0]).unwrap();
    assert_eq!(replay.total_priority(), 1.0);

    let (mut replay, ..) = filled(plain(1024), &[1.0; 1024]);
    let mut batch = replay.batch(1000).unwrap();
    for round in 0..1000_u32 {
        replay.sample_proportional(&mut batch, 0.4).unwrap();
        let errors: Vec<f32> =
            (0..1000_u32).map(|i| ((i * 7919 + round * 104_729) % 10_007 + 1) as f32 * 1e-4).collect();
        replay.update_priorities(batch.handles(), &errors).unwrap();
    }
    let raw: Vec<f32> = (0..1024).map(|slot| replay.priority(replay.handle(slot).unwrap()).unwrap()).collect();
    let (fresh, ..) = filled(plain(1024), &raw);
    assert!(*replay.powers() == *fresh.powers());
    assert_eq!(replay.total_priority().to_bits(), fresh.total_priority().to_bits());
    let all: Vec<Handle> = (0..1024).filter_map(|slot| replay.handle(slot)).collect();
    replay.set_priorities(&all, &[0.0; 1024]).unwrap();
    assert_eq!((replay.total_priority(), replay.len()), (0.0, 1024));
    assert_eq!((replay.min_priority(), replay.max_priority()), (None, None));
}

#[test]
fn case_4_what_is_added_and_taken_away_leaves_zero() {
    let (mut replay, _, handles) = filled(plain(2), &[0.3, 0.1]);
    assert_eq!(replay.remove(&handles).unwrap(), Updated { applied: 2, stale: 0 });
    assert_eq!((replay.total_priority(), replay.len()), (0.0, 0));
}

#[test]
fn case_5_of_two_updates_of_an_item_the_last_counts() {
    let (mut replay, _, handles) = filled(plain(4), &[1.0; 4]);
    let before = replay.total_priority();
    let twice = [handles[2], handles[2]];
    assert_eq!(replay.set_priorities(&twice, &[5.0, 3.0]).unwrap(), Updated { applied: 2, stale: 0 });
    assert_eq!((replay.priority(handles[2]), replay.total_priority() - before), (Some(3.0), 2.0));
    assert_eq!((replay.max_priority(), replay.min_priority()), (Some(3.0), Some(1.0)));
    replay.update_priorities(&twice, &[-9.0, 0.5]).unwrap();
    assert_eq!((replay.priority(handles[2]), replay.total_priority()), (Some(0.5), 3.5));
    assert_eq!((replay.max_priority(), replay.min_priority()), (Some(1.0), Some(0.5)));
    // Removed twice: the second is too late.
    assert_eq!(replay.remove(&twice).unwrap(), Updated { applied: 1, stale: 1 });
    assert_eq!(replay.len(), 3);
}

#[test]
fn case_6_one_wrong_priority_refuses_the_batch_and_says_where() {
    let (mut replay, column, handles) = filled(plain(4), &[1.0, 2.0, 3.0]);
    for value in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -1.0, -f32::MIN_POSITIVE] {
        let values = [7.0, value, f32::NAN];
        let invalid = |error: Option<Error>| match error {
            Some(Error::InvalidPriority { position, value: v, .. }) => (position, v.to_bits()) == (1, value.to_bits()),
            _ => false,
        };
        assert!(invalid(replay.set_priorities(&handles, &values).err()));
        assert!(invalid(replay.insert_batch_with_priorities(&[column.rows(&[1, 2, 3])], &values).err()));
        if !value.is_finite() {
            let error = replay.update_priorities(&handles, &values).unwrap_err();
            assert!(
                matches!(error, Error::InvalidTdError { position: 1, value: v, .. } if v.to_bits() == value.to_bits())
            );
        }
        assert_eq!((replay.total_priority(), replay.len(), replay.max_priority()), (6.0, 3, Some(3.0)));
    }
    // The sum of these isn't finite in f32.
    let (mut replay, ..) = filled(Config { draws: Draws::Stratified, ..plain(2) }, &[3e38, 3e38]);
    assert_eq!(sampled(&mut replay, 2, 1.0).indices(), [0, 1]);
    assert_eq!(replay.probability(Handle::from_number(0)), Some(0.5));
}

#[test]
fn case_7_a_td_error_of_minus_3_ranks_as_3() {
    let (mut replay, _, handles) = filled(plain(3), &[1.0; 3]);
    replay.update_priorities(&handles, &[-3.0, 2.0, 3.0]).unwrap();
    let priorities: Vec<f32> = handles.iter().map(|&h| replay.priority(h).unwrap()).collect();
    assert_eq!(priorities, [3.0, 2.0, 3.0]);
    // With epsilon, and one whose TD error is zero stays reachable.
    let (mut replay, _, handles) = filled(Config { epsilon: 0.25, ..plain(3) }, &[1.0; 3]);
    replay.update_priorities(&handles, &[-3.0, 0.0, -0.0]).unwrap();
    let priorities: Vec<f32> = handles.iter().map(|&h| replay.priority(h).unwrap()).collect();
    assert_eq!(priorities, [3.25, 0.25, 0.25]);
}

#[test]
fn case_7_only_filled_slots_are_drawn_and_have_a_minimum() {
    for (capacity, items) in [(4096, 4096), (4096, 2048), (4096, 1), (3, 3), (3, 2), (1, 1), (17, 16), (17, 17)] {
        for draws in EVERY_DRAW {
            for alpha in [0.0, 1.0] {
                let priorities: Vec<f32> = (0..items).map(|i| 2.0 + (i % 5) as f32).collect();
                let (mut replay, column, _) = filled(Config { draws, alpha, ..plain(capacity) }, &priorities);
                assert_eq!((replay.len(), replay.capacity()), (items, capacity));
                assert_eq!(replay.min_priority(), Some(if alpha == 0.0 { 1.0 } else { 2.0 }));
                let total: f32 = if alpha == 0.0 { items as f32 } else { priorities.iter().sum() };
                assert_eq!(replay.total_priority(), f64::from(total));
                let batch = sampled(&mut replay, items, 0.4);
                assert!(batch.indices().iter().all(|&i| (i as usize) < items));
                assert!(batch.rows(column).unwrap().iter().zip(batch.indices()).all(|(&n, &i)| n == i as i32));
            }
        }
    }
    // Zero isn't a minimum, an absent item neither.
    let (mut replay, _, handles) = filled(plain(4), &[0.0, 5.0, 2.0, 3.0]);
    replay.remove(&handles[2..3]).unwrap();
    assert_eq!((replay.min_priority(), replay.max_priority(), replay.len()), (Some(3.0), Some(5.0), 3));
}

#[test]
fn case_8_nothing_to_draw_is_an_error_or_uniform_if_asked_for() {
    for draws in EVERY_DRAW {
        for all_zero in [AllZero::Error, AllZero::Uniform] {
            let (mut replay, column) = made(Config { draws, all_zero, ..plain(4) });
            let mut batch = replay.batch(2).unwrap();
            assert!(matches!(replay.sample_proportional(&mut batch, 0.4), Err(Error::NoItems)));
            replay.insert_batch_with_priorities(&[column.rows(&[1, 2, 3])], &[0.0, 0.0, -0.0]).unwrap();
            let drawn = replay.sample_proportional(&mut batch, 0.4);
            if all_zero == AllZero::Error {
                let error = drawn.unwrap_err();
                assert!(matches!(error, Error::AllZero { items: 3 }), "{error:?}");
                assert_eq!(replay.draws_made(), 0);
                continue;
            }
            drawn.unwrap();
            assert_eq!((batch.weights(), replay.draws_made()), (&[1.0; 2][..], 2));
            let mut counts = [0; 4];
            for _ in 0..1000 {
                replay.sample_proportional(&mut batch, 0.4).unwrap();
                batch.indices().iter().for_each(|&i| counts[i as usize] += 1);
            }
            // A third of 2,000 each: 667 with a standard deviation below 22.
            assert!(counts[3] == 0 && counts[..3].iter().all(|c| (557..777).contains(c)), "{draws:?} {counts:?}");
        }
        // 0^0 = 1: with alpha 0 all are equally likely.
        let (mut replay, column) = made(Config { draws, alpha: 0.0, ..plain(4) });
        replay.insert_batch_with_priorities(&[column.rows(&[1, 2])], &[0.0, 9.0]).unwrap();
        assert_eq!(replay.total_priority(), 2.0);
        assert_eq!(replay.probability(Handle::from_number(0)), Some(0.5));
        assert_eq!(sampled(&mut replay, 2, 1.0).weights(), [1.0; 2]);
    }
}

#[test]
fn case_9_the_largest_priority_falls_when_its_item_goes() {
    for (new_items, then) in [(NewItems::LargestNow, 2.0), (NewItems::LargestEver, 100.0)] {
        let config = Config { new_items, ..plain(3) };
        let (mut replay, column, handles) = filled(config, &[100.0, 2.0, 1.0]);
        // In place of the 100.
        let new = replay.insert(&[column.rows(&[3])]).unwrap();
        assert_eq!((replay.contains(handles[0]), replay.priority(new)), (false, Some(then)));
        assert_eq!(replay.max_priority(), Some(then));
        // Lowered or removed instead of overwritten.
        replay.clear();
        assert_eq!(replay.max_priority(), None);
        let new = replay.insert(&[column.rows(&[4])]).unwrap();
        assert_eq!(replay.priority(new), Some(if new_items == NewItems::LargestNow { 1.0 } else { 100.0 }));
        replay.set_priorities(&[new], &[50.0]).unwrap();
        assert_eq!(replay.max_priority(), Some(50.0));
        replay.set_priorities(&[new], &[0.5]).unwrap();
        let next = replay.insert(&[column.rows(&[5])]).unwrap();
        assert_eq!(replay.priority(next), Some(if new_items == NewItems::LargestNow { 0.5 } else { 100.0 }));
    }
    // Nothing above zero to go by.
    for new_items in [NewItems::LargestNow, NewItems::LargestEver] {
        let (mut replay, column, _) = filled(Config { new_items, ..plain(3) }, &[0.0, 0.0]);
        let new = replay.insert(&[column.rows(&[2])]).unwrap();
        assert_eq!(replay.priority(new), Some(Config::INITIAL_PRIORITY));
    }
}

#[test]
fn case_10_2_to_the_24_and_10_items_are_all_reachable() {
    const ITEMS: usize = (1 << 24) + 10;
    let (mut replay, column) = made(Config { draws: Draws::Stratified, ..plain(ITEMS) });
    let numbers: Vec<i32> = (0..ITEMS as i32).collect();
    replay.insert_batch(&[column.rows(&numbers)]).unwrap();
    assert_eq!(replay.total_priority(), ITEMS as f64);
    // One stratum for each item.
    let batch = sampled(&mut replay, ITEMS, 1.0);
    assert!(batch.rows(column).unwrap() == numbers);
    assert!(batch.weights().iter().all(|&w| w == 1.0));
}

#[test]
fn case_11_an_item_of_priority_zero_at_the_end_is_never_drawn() {
    let (mut replay, ..) = filled(plain(5), &[0.1, 0.1, 0.1, 0.4, 0.0]);
    let batch = sampled(&mut replay, 100_000, 0.4);
    assert!(batch.indices().iter().all(|&i| i != 4));
    let threshold = replay.powers().total() - 1;
    assert_eq!(replay.powers().find(threshold), Ok(3));
}

#[test]
fn case_12_a_late_update_never_touches_the_item_that_came_instead() {
    let (mut replay, column, _) = filled(plain(4), &[1.0; 4]);
    // Three batches are outstanding while the ring is overwritten once and a half.
    let outstanding: Vec<Batch> = (0..3)
        .map(|_| {
            let batch = sampled(&mut replay, 4, 0.4);
            replay.insert_batch(&[column.rows(&[7, 8])]).unwrap();
            batch
        })
        .collect();
    let before: Vec<Option<f32>> = (0..4).map(|slot| replay.priority(replay.handle(slot).unwrap())).collect();
    assert_eq!(before, [Some(1.0); 4]);
    // Items 6 to 9 are there: of the first two batches none, of the third some.
    for (batch, some) in outstanding.iter().zip([false, false, true]) {
        let there = batch.handles().iter().filter(|h| h.number() >= 6).count();
        assert!(batch.handles().iter().all(|&h| replay.contains(h) == (h.number() >= 6)));
        assert_eq!(there > 0, some);
        let outcome = replay.update_priorities(batch.handles(), &[1.0; 4]).unwrap();
        assert_eq!(outcome, Updated { applied: there, stale: 4 - there });
    }
    for batch in &outstanding[..2] {
        replay.update_priorities(batch.handles(), &[50.0; 4]).unwrap();
    }
    assert_eq!(replay.total_priority(), 4.0);
    // Item 4 + 4 lies where item 4 lay.
    let (old, new) = (Handle::from_number(4), Handle::from_number(8));
    assert_eq!((replay.slot(old), replay.slot(new)), (None, Some(0)));
    assert_eq!(replay.set_priorities(&[old, new, old], &[90.0, 5.0, 91.0]).unwrap(), Updated { applied: 1, stale: 2 });
    assert_eq!((replay.priority(new), replay.total_priority()), (Some(5.0), 8.0));
    assert_eq!(replay.remove(&[old]).unwrap(), Updated { applied: 0, stale: 1 });
    // A removed item isn't brought back, nor is the one that follows it in its slot touched.
    replay.remove(&[new]).unwrap();
    assert_eq!(replay.set_priorities(&[new], &[5.0]).unwrap(), Updated { applied: 0, stale: 1 });
    assert_eq!((replay.len(), replay.total_priority()), (3, 3.0));
}

#[test]
fn case_13_weights_over_the_buffer_and_over_the_batch() {
    let half = 0.5_f32.sqrt();
    for (weights, expected) in [
        (Weights::OverBuffer, [half, 0.5]),
        (Weights::OverBatch, [1.0, half]),
        // N P = 4 * 2/8 = 1 and 4 * 4/8 = 2.
        (Weights::Unnormalized, [1.0, half]),
    ] {
        let (mut replay, ..) = filled(Config { weights, ..plain(4) }, &[1.0, 1.0, 2.0, 4.0]);
        let mut batch = replay.batch(2).unwrap();
        let mut found = false;
        for index in 0..200 {
            replay.sample_proportional_at(index, &mut batch, 0.5).unwrap();
            if batch.indices() == [2, 3] {
                assert_eq!(bits(batch.weights()), bits(&expected), "{weights:?}");
                found = true;
            }
        }
        assert!(found);
        // Beta 0 is no correction, beta 1 all of it.
        for (beta, of_item_0) in [(0.0, 1.0), (1.0, 2.0)] {
            replay.sample_proportional(&mut batch, beta).unwrap();
            if weights == Weights::Unnormalized {
                let expected = |&i: &u32| if beta == 0.0 { 1.0 } else { [of_item_0, 2.0, 1.0, 0.5][i as usize] };
                assert_eq!(batch.weights(), batch.indices().iter().map(expected).collect::<Vec<f32>>());
            }
        }
        for beta in [1.0_f32.next_up(), 2.0, -1e-9, f32::NAN] {
            assert!(matches!(replay.sample_proportional(&mut batch, beta), Err(Error::InvalidBeta { .. })));
        }
    }
}

#[test]
fn case_13_beta_never_passes_1() {
    let schedule = BetaSchedule::new(0.4, 1.0, 3).unwrap();
    assert_eq!([0, 3, 4, u64::MAX].map(|step| schedule.at(step)), [0.4, 1.0, 1.0, 1.0]);
    assert!(BetaSchedule::new(0.4, 1.0_f32.next_up(), 3).is_err());
}

#[test]
fn case_14_alpha_changes_as_if_it_had_always_been_so() {
    let config = Config { alpha: 0.6, ..plain(4) };
    let (mut replay, _, handles) = filled(config.clone(), &[8.0, 3.0, 0.0]);
    replay.set_alpha(0.3).unwrap();
    let (fresh, ..) = filled(Config { alpha: 0.3, ..config }, &[8.0, 3.0, 0.0]);
    assert!(*replay.powers() == *fresh.powers());
    assert_eq!((replay.priority(handles[0]), replay.max_priority()), (Some(8.0), Some(8.0)));
    let power = replay.powers().priority(0).unwrap();
    // 8^0.3, with 0.3 as f32 has it, to within an ulp.
    assert!((f64::from(power) - 8_f64.powf(f64::from(0.3_f32))).abs() < 1.2e-7, "{power}");
    assert!((power - 1.866).abs() < 1e-3);
    // There and back.
    replay.set_alpha(0.0).unwrap();
    assert_eq!(replay.total_priority(), 3.0);
    replay.set_alpha(0.3).unwrap();
    assert!(*replay.powers() == *fresh.powers());
    assert_eq!(replay.probability(handles[0]), {
        let tree = fresh.powers();
        Some(oracle::ratio(tree.weight(0).unwrap(), tree.total()))
    });
}

#[test]
fn case_15_strided_views_give_what_their_copies_give() {
    let mut columns = Columns::new();
    let wide = columns.add::<f32>("wide", 3).unwrap();
    let mut copies = PrioritizedReplay::new(plain(5), columns.clone()).unwrap();
    let mut views = PrioritizedReplay::new(plain(5), columns).unwrap();
    let table = Array2::from_shape_fn((14, 9), |(i, j)| (100 * i + j) as f32);
    let values = Array1::from_shape_fn(14, |i| (1 + i) as f32);
    let same = Array1::from_elem(1, 3.0_f32);
    let same = same.broadcast(7).unwrap();
    // Every other row and every third column, transposed, backwards, one row for all.
    let (transposed, one) = (table.t(), table.slice(s![7, 4..7]));
    let rows = [
        table.slice(s![..;2, ..;3]),
        transposed.slice(s![2..9, ..6;2]),
        table.slice(s![..;-2, 3..6]),
        one.broadcast((7, 3)).unwrap(),
    ];
    for rows in rows {
        for values in [values.slice(s![..;2]), values.slice(s![..;-2]), same] {
            let (rows_copy, values_copy) = (rows.as_standard_layout().into_owned(), values.to_vec());
            let flat = rows_copy.as_slice().unwrap();
            let a = copies.insert_batch_with_priorities(&[wide.rows(flat)], &values_copy).unwrap();
            let b = views.insert_batch_with_priorities(&[wide.view(rows)], values).unwrap();
            assert_eq!(a, b);
            let handles: Vec<Handle> = a.collect();
            copies.update_priorities(&handles, &values_copy[..]).unwrap();
            views.update_priorities(&handles, values).unwrap();
            assert!(*copies.powers() == *views.powers());
            let (a, b) = (sampled(&mut copies, 20, 0.4), sampled(&mut views, 20, 0.4));
            assert_eq!((a.indices(), bits(a.weights())), (b.indices(), bits(b.weights())));
            assert_eq!(a.rows(wide).unwrap(), b.rows(wide).unwrap());
            let row = |h: &Handle| rows_copy.row((h.number() - handles[0].number()) as usize).to_vec();
            assert_eq!(a.rows(wide).unwrap(), a.handles().iter().flat_map(row).collect::<Vec<f32>>());
        }
    }
}
