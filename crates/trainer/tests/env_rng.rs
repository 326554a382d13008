//! An environment's draws: addresses, ranges, frequencies.

use arith::random::Stream;
use trainer::env::Rng;

#[test]
fn every_call_uses_one_block() {
    let stream = Stream::new(0x0123_4567_89ab_cdef, 42);
    let mut rng = Rng::new(stream);
    assert_eq!(rng.words(), stream.block(0));
    rng.uniform(0.0, 1.0);
    rng.uniform4(0.0, 1.0);
    rng.below(10);
    assert_eq!(rng.position(), 4);
    assert_eq!(rng.words(), stream.block(4));
    rng.seek(1);
    assert_eq!(rng.words(), stream.block(1));
    rng.seek(u64::MAX);
    assert_eq!(rng.words(), stream.block(u64::MAX));
    assert_eq!(rng.position(), 0);
}

#[test]
fn draws_are_those_of_their_definitions() {
    let stream = Stream::new(1, 2);
    let mut rng = Rng::new(stream);
    for i in 0..100 {
        let [w0, w1, ..] = stream.block(i);
        rng.seek(i);
        let unit = f64::from(w0 >> 8) / f64::from(1 << 24);
        let uniform = f64::from(rng.uniform(-2.0, 6.0));
        // One rounding of a value below 8.
        assert!((uniform - (8.0 * unit - 2.0)).abs() <= 4.0 / f64::from(1 << 24));
        rng.seek(i);
        let word = (u128::from(w1) << 32) | u128::from(w0);
        assert_eq!(u128::from(rng.below(1_000)), (word * 1_000) >> 64);
    }
}

#[test]
fn below_stays_below_and_is_uniform() {
    let mut rng = Rng::new(Stream::new(3, 4));
    assert_eq!(rng.below(0), 0);
    assert!((0..100).all(|_| rng.below(1) == 0));
    let (n, draws) = (7, 70_000);
    let mut counts = [0_u32; 7];
    for _ in 0..draws {
        counts[rng.below(n) as usize] += 1;
    }
    let expected = f64::from(draws) / f64::from(n);
    let chi2: f64 = counts.iter().map(|&c| (f64::from(c) - expected).powi(2) / expected).sum();
    // Six degrees of freedom: 22.46 at alpha = 0.001.
    assert!(chi2 < 22.46, "{counts:?}");
    assert!((0..1_000).any(|_| rng.below(u32::MAX) > 1 << 31));
}
