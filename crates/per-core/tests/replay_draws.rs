//! The distribution of a replay's draws.

use per_core::PrioritizedReplay;
use per_core::replay::{AllZero, Columns, Config, Draws, Handle, Weights};

/// The value that chi-square exceeds with probability 1e-4 (Wilson and Hilferty 1931; the normal quantile is 3.719).
fn critical(freedom: f64) -> f64 {
    let v = 2.0 / (9.0 * freedom);
    freedom * (1.0 - v + 3.719 * v.sqrt()).powi(3)
}

/// That counts follow probabilities: alpha 1e-4, with a fixed seed.
fn assert_follows(counts: &[u32], probabilities: &[f64], what: &str) {
    let draws: u32 = counts.iter().sum();
    let (mut chi, mut freedom) = (0.0, -1.0);
    for (&count, &p) in counts.iter().zip(probabilities) {
        let expected = f64::from(draws) * p;
        if p == 0.0 {
            assert_eq!(count, 0, "{what}");
            continue;
        }
        assert!(expected >= 5.0, "too few draws");
        chi += (f64::from(count) - expected).powi(2) / expected;
        freedom += 1.0;
    }
    assert!(chi < critical(freedom), "{what}: {chi} of {freedom}");
}

/// Items of these priorities in slots 0 and on; those of `removed` are taken out.
fn made(config: Config, priorities: &[f32], removed: &[u64]) -> PrioritizedReplay {
    let mut columns = Columns::new();
    let column = columns.add::<u8>("column", 1).unwrap();
    let mut replay = PrioritizedReplay::new(config, columns).unwrap();
    replay.insert_batch_with_priorities(&[column.rows(&vec![0; priorities.len()])], priorities).unwrap();
    let removed: Vec<Handle> = removed.iter().map(|&n| Handle::from_number(n)).collect();
    replay.remove(&removed).unwrap();
    replay
}

/// How often each slot comes in each place of a batch of `draws`: (draws, capacity).
fn counts(replay: &mut PrioritizedReplay, draws: usize, batches: usize) -> Vec<Vec<u32>> {
    let mut batch = replay.batch(draws).unwrap();
    let mut counts = vec![vec![0; replay.capacity()]; draws];
    for _ in 0..batches {
        replay.sample_proportional(&mut batch, 0.5).unwrap();
        for (counts, &slot) in counts.iter_mut().zip(batch.indices()) {
            counts[slot as usize] += 1;
        }
    }
    counts
}

fn shares(masses: &[f64]) -> Vec<f64> {
    let total: f64 = masses.iter().sum();
    masses.iter().map(|m| m / total).collect()
}

fn sums(counts: &[Vec<u32>]) -> Vec<u32> {
    (0..counts[0].len()).map(|slot| counts.iter().map(|c| c[slot]).sum()).collect()
}

/// The part of each item in stratum j of n of the mass.
fn stratum(masses: &[f64], j: usize, n: usize) -> Vec<f64> {
    let part = masses.iter().sum::<f64>() / n as f64;
    let (low, high) = (j as f64 * part, (j + 1) as f64 * part);
    let mut before = 0.0;
    let overlap = |&m: &f64| {
        let (start, end) = (before, before + m);
        before = end;
        // What rounding leaves of nothing is nothing.
        let overlap = end.min(high) - start.max(low);
        if overlap > 1e-9 * part { overlap / part } else { 0.0 }
    };
    masses.iter().map(overlap).collect()
}

const SEEDS: [u64; 3] = [1, 2, 3];

#[test]
fn draws_follow_priority_to_the_power_of_alpha() {
    let priorities: Vec<f32> = (0..40).map(|i| if i % 7 == 3 { 0.0 } else { 0.25 + (i * i % 19) as f32 }).collect();
    for alpha in [0.0_f32, 0.6, 1.0, 2.0] {
        let masses: Vec<f64> = priorities.iter().map(|&p| f64::from(p).powf(alpha.into())).collect();
        let masses: Vec<f64> = masses.into_iter().enumerate().map(|(i, m)| if i % 5 == 2 { 0.0 } else { m }).collect();
        let removed: Vec<u64> = (0..40).filter(|i| i % 5 == 2).collect();
        for seed in SEEDS {
            let config = Config { alpha, seed, draws: Draws::Independent, ..Config::new(40) };
            let mut replay = made(config.clone(), &priorities, &removed);
            let found = counts(&mut replay, 100, 4000);
            assert_follows(&sums(&found), &shares(&masses), "independent");
            let mut replay = made(Config { draws: Draws::Stratified, ..config }, &priorities, &removed);
            let found = counts(&mut replay, 4, 100_000);
            for (j, found) in found.iter().enumerate() {
                assert_follows(found, &stratum(&masses, j, 4), "stratified");
            }
        }
    }
}

#[test]
fn draws_without_replacement_are_successive_draws() {
    let masses = [1.0_f64, 0.0, 2.0, 4.0, 3.0, 0.5];
    let priorities = masses.map(|m| m as f32);
    for seed in SEEDS {
        let config = Config { alpha: 1.0, seed, draws: Draws::Distinct, ..Config::new(6) };
        // Item 4 isn't there.
        let mut replay = made(config, &priorities, &[4]);
        let mut batch = replay.batch(2).unwrap();
        let mut pairs = vec![0; 36];
        for _ in 0..60_000 {
            replay.sample_proportional(&mut batch, 0.5).unwrap();
            pairs[(batch.indices()[0] * 6 + batch.indices()[1]) as usize] += 1;
        }
        let there = [1.0, 0.0, 2.0, 4.0, 0.0, 0.5];
        let total = 7.5;
        let pair =
            |k: usize| if k / 6 == k % 6 { 0.0 } else { there[k / 6] / total * there[k % 6] / (total - there[k / 6]) };
        assert_follows(&pairs, &(0..36).map(pair).collect::<Vec<f64>>(), "distinct");
        // All of them, each once.
        let mut batch = replay.batch(4).unwrap();
        replay.sample_proportional(&mut batch, 0.5).unwrap();
        let mut all = batch.indices().to_vec();
        all.sort_unstable();
        assert_eq!(all, [0, 2, 3, 5]);
    }
}

#[test]
fn without_priorities_all_items_are_equally_likely() {
    for removed in [vec![], vec![0, 1, 7, 8, 15, 29], (1..30).collect(), (0..29).collect()] {
        // Slots 30 to 33 were never filled.
        let there: Vec<f64> = (0..34).map(|i| if i < 30 && !removed.contains(&i) { 1.0 } else { 0.0 }).collect();
        let items = there.iter().sum::<f64>() as usize;
        for seed in SEEDS {
            let config = Config { seed, all_zero: AllZero::Uniform, draws: Draws::Independent, ..Config::new(34) };
            let mut replay = made(config.clone(), &[0.0; 30], &removed);
            let found = counts(&mut replay, 50, 2000);
            if items == 1 {
                // Chi-square has no freedom.
                assert_eq!(sums(&found)[there.iter().position(|&t| t > 0.0).unwrap()], 100_000);
                continue;
            }
            assert_follows(&sums(&found), &shares(&there), "independent");
            let mut replay = made(Config { draws: Draws::Stratified, ..config.clone() }, &[0.0; 30], &removed);
            for (j, found) in counts(&mut replay, 4, 20_000).iter().enumerate() {
                assert_follows(found, &stratum(&there, j, 4), "stratified");
            }
            // Each place of a batch, and each pair of the first two.
            let mut replay = made(Config { draws: Draws::Distinct, ..config }, &[0.0; 30], &removed);
            for found in counts(&mut replay, 5, 20_000) {
                assert_follows(&found, &shares(&there), "distinct");
            }
            let mut batch = replay.batch(items).unwrap();
            let mut pairs = vec![0; 34 * 34];
            for _ in 0..30_000 {
                replay.sample_proportional(&mut batch, 0.5).unwrap();
                pairs[(batch.indices()[0] * 34 + batch.indices()[1]) as usize] += 1;
            }
            let pair = |k: usize| if k / 34 == k % 34 { 0.0 } else { there[k / 34] * there[k % 34] };
            assert_follows(&pairs, &shares(&(0..34 * 34).map(pair).collect::<Vec<f64>>()), "distinct pairs");
            let mut all = batch.indices().to_vec();
            all.sort_unstable();
            assert_eq!(all, (0..34).filter(|&i| there[i as usize] > 0.0).collect::<Vec<u32>>());
        }
    }
}

/// Importance weights undo the priorities: with beta 1, the mean of w f over the draws is that of f over all items.
#[test]
fn weighted_means_are_those_of_uniform_draws() {
    const ITEMS: usize = 100;
    let priorities: Vec<f32> = (0..ITEMS).map(|i| 0.5 + (i * 37 % 11) as f32).collect();
    let values: Vec<f64> = (0..ITEMS).map(|i| (i % 13) as f64).collect();
    let expected = values.iter().sum::<f64>() / ITEMS as f64;
    for draws in [Draws::Independent, Draws::Stratified] {
        let config = Config { draws, weights: Weights::Unnormalized, alpha: 0.8, ..Config::new(ITEMS) };
        let mut replay = made(config, &priorities, &[]);
        let mut batch = replay.batch(1000).unwrap();
        let (mut sum, mut squares) = (0.0, 0.0);
        for _ in 0..400 {
            replay.sample_proportional(&mut batch, 1.0).unwrap();
            for (&slot, &w) in batch.indices().iter().zip(batch.weights()) {
                let x = f64::from(w) * values[slot as usize];
                (sum, squares) = (sum + x, squares + x * x);
            }
        }
        let n = 400_000.0;
        let mean = sum / n;
        // Independent draws have this deviation, stratified ones less; 4 of them: 6e-5.
        let deviation = ((squares / n - mean * mean) / n).sqrt();
        assert!((mean - expected).abs() < 4.0 * deviation, "{draws:?}: {mean} {expected} {deviation}");
    }
}
