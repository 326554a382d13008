//! Importance weights where the quotient of two integers, taken in f64, lands in the middle between two f32: it must be
//! rounded as the exact quotient is.

use arith::random::Stream;
use per_core::replay::{Columns, Config, Draws, Weights};
use per_core::{PrioritizedReplay, oracle};

/// Integers below 2^52 with 24 significant bits each, whose sum is `total`; the first is `first`.
fn parts(first: u64, total: u64) -> Option<[u64; 4]> {
    let mut parts = [first, 0, 0, 0];
    let mut rest = total.checked_sub(first)?;
    for part in &mut parts[1..] {
        let low = (64 - rest.leading_zeros()).saturating_sub(24);
        *part = rest >> low << low;
        rest -= *part;
    }
    (rest == 0 && parts.iter().all(|&p| p < 1 << 52) && parts.iter().any(|&p| p >= 1 << 51)).then_some(parts)
}

#[test]
fn a_quotient_is_rounded_once() {
    let numbers = Stream::new(3, 0);
    let mut found = 0;
    for i in 0..2000_u64 {
        let [a, b, ..] = numbers.block(i);
        // first / total is next to (2 j + 1) / 2^25, between two f32 in [1/2, 1).
        let first = u64::from(a >> 9 | 1 << 23) << 28;
        let middle = u64::from(b >> 8 | 1 << 24 | 1);
        let total = ((u128::from(first) << 25) + u128::from(middle) / 2) / u128::from(middle);
        let Some(parts) = parts(first, u64::try_from(total).unwrap()) else { continue };
        let total: u64 = parts.iter().sum();
        let (right, twice) = (oracle::ratio(first, total), (first as f64 / total as f64) as f32);
        let weight = |quotient: f32| arith::powf(4.0 * quotient, -1.0);
        if weight(right).to_bits() == weight(twice).to_bits() {
            continue;
        }
        found += 1;
        let mut columns = Columns::new();
        let column = columns.add::<u8>("column", 1).unwrap();
        let config = Config { alpha: 1.0, weights: Weights::Unnormalized, draws: Draws::Distinct, ..Config::new(4) };
        let mut replay = PrioritizedReplay::new(config, columns).unwrap();
        // The largest is in [1/2, 1), so 2^52 is the scale of four.
        let priorities = parts.map(|p| p as f32 * 2_f32.powi(-52));
        replay.insert_batch_with_priorities(&[column.rows(&[0; 4])], &priorities).unwrap();
        assert_eq!([0, 1, 2, 3].map(|slot| replay.powers().weight(slot).unwrap()), parts);
        let mut batch = replay.batch(replay.powers().positive()).unwrap();
        replay.sample_proportional(&mut batch, 1.0).unwrap();
        for (&slot, w) in batch.indices().iter().zip(batch.weights()) {
            let expected = weight(oracle::ratio(parts[slot as usize], total));
            assert_eq!(w.to_bits(), expected.to_bits(), "{parts:?} {slot}");
        }
    }
    assert!(found >= 10, "{found} sums where it matters");
}
