//! RepeatPrevious against a list of everything that it has shown.

use arith::random::Stream;
use trainer::env::{Env, Error, RepeatPrevious, Rng, Slot, Step};

fn slot(k: u64, symbols: u32, length: u64, stream: u64) -> Slot<RepeatPrevious> {
    Slot::new(0, RepeatPrevious::new(k, symbols, length).unwrap(), Rng::new(Stream::new(5, stream))).unwrap()
}

/// The symbol of a one-hot observation.
fn symbol(observation: &[f32]) -> u32 {
    let mut ones = observation.iter().enumerate().filter(|(_, x)| **x == 1.0);
    let (i, _) = ones.next().unwrap();
    assert!(ones.next().is_none());
    assert_eq!(observation.iter().filter(|x| **x == 0.0).count(), observation.len() - 1);
    i as u32
}

#[test]
fn the_answer_is_the_symbol_of_k_steps_ago() {
    for (k, symbols, length) in [(0, 2, 1), (0, 3, 7), (1, 2, 2), (1, 2, 9), (4, 4, 5), (4, 5, 32), (7, 2, 64)] {
        let mut slot = slot(k, symbols, length, k);
        let mut last = vec![0.0; symbols as usize];
        for _ in 0..20 {
            let mut seen = Vec::new();
            let mut total = 0.0;
            for t in 0..length {
                seen.push(symbol(slot.observation()));
                let answer = (t >= k).then(|| seen[(t - k) as usize]);
                assert_eq!(slot.env().answer(), answer);
                // Every third answer is wrong.
                let (right, action) = match answer {
                    Some(a) if t % 3 == 2 => (false, (a + 1) % symbols),
                    Some(a) => (true, a),
                    None => (false, 0),
                };
                let transition = slot.step(action, &mut last).unwrap();
                let reward = if right { 1.0 / (length - k) as f32 } else { 0.0 };
                assert_eq!(transition.step, Step { reward, terminated: t + 1 == length, truncated: false });
                total += f64::from(reward);
                assert_eq!(
                    transition.finished.map(|e| (e.total, e.length)),
                    (t + 1 == length).then_some((total, length))
                );
            }
            assert!(last.iter().all(|&x| x == 0.0));
        }
    }
}

#[test]
fn a_perfect_memory_gets_the_best_return() {
    let mut slot = slot(4, 4, 32, 0);
    let mut last = [0.0; 4];
    loop {
        let action = slot.env().answer().unwrap_or(0);
        if let Some(episode) = slot.step(action, &mut last).unwrap().finished {
            let best = slot.env().spec().best_return.unwrap();
            // 28 times the rounding of 1/28.
            assert!((episode.total - best).abs() <= best * f64::from(f32::EPSILON) / 2.0);
            break;
        }
    }
}

#[test]
fn without_memory_an_answer_is_a_guess() {
    // Whatever symbol is shown and whichever is answered: right in one of `symbols` cases.
    let (symbols, n) = (3_u32, 60_000);
    let mut right = [[0_u32; 3]; 3];
    let mut shown = [0_u32; 3];
    let mut slot = slot(2, symbols, 20, 9);
    let mut last = [0.0; 3];
    for _ in 0..n {
        let now = symbol(slot.observation()) as usize;
        if let Some(answer) = slot.env().answer() {
            shown[now] += 1;
            right[now][answer as usize] += 1;
        }
        slot.step(0, &mut last).unwrap();
    }
    let chance = slot.env().memoryless_return();
    assert_eq!(chance, 1.0 / 3.0);
    for (row, &n) in right.iter().zip(&shown) {
        assert!(n > 15_000);
        for &count in row {
            // Five deviations of a binomial count.
            let (n, count) = (f64::from(n), f64::from(count));
            assert!((count - n * chance).abs() < 5.0 * (n * chance * (1.0 - chance)).sqrt(), "{right:?}");
        }
    }
}

#[test]
fn a_saved_episode_goes_on_as_it_would_have() {
    for steps in 0..40 {
        let mut one = slot(3, 4, 12, 1);
        let mut last = [0.0; 4];
        for t in 0..steps {
            one.step(t % 4, &mut last).unwrap();
        }
        let mut words = Vec::new();
        one.save(&mut words);
        let mut other = slot(3, 4, 12, 1);
        other.load(&words).unwrap();
        for t in 0..30 {
            assert_eq!(one.observation(), other.observation());
            assert_eq!(one.step(t % 4, &mut last), other.step(t % 4, &mut last));
        }
    }
}

#[test]
fn states_that_cannot_be_are_refused() {
    let mut env = RepeatPrevious::new(2, 3, 10).unwrap();
    env.reset(&mut Rng::new(Stream::new(1, 1)), &mut [0.0; 3]);
    let before = env.clone();
    for bad in [
        &[][..],
        &[0],
        &[0, 0, 1, 1],
        &[0, 0, 1, 1, 1, 1],
        &[11, 0, 1, 1, 1],
        &[0, 3, 1, 1, 1],
        &[0, u64::MAX, 1, 1, 1],
        &[0, 0, 1, 3, 1],
        &[0, 0, 1, 1, 1 << 32],
    ] {
        assert!(matches!(env.load(bad), Err(Error::State { .. })), "{bad:?}");
        assert_eq!(env, before);
    }
    env.load(&[10, 2, 0, 1, 2]).unwrap();
    let mut words = Vec::new();
    env.save(&mut words);
    assert_eq!(words, [10, 2, 0, 1, 2]);
}

#[test]
fn parameters_out_of_range_are_named() {
    let parameter = |k, symbols, length| match RepeatPrevious::new(k, symbols, length) {
        Err(Error::Parameter { parameter, got, .. }) => (parameter, got),
        other => panic!("{other:?}"),
    };
    assert_eq!(parameter(65_537, 2, 100_000), ("k", 65_537));
    assert_eq!(parameter(u64::MAX, 2, u64::MAX), ("k", u64::MAX));
    assert_eq!(parameter(1, 0, 10), ("symbols", 0));
    assert_eq!(parameter(1, 1, 10), ("symbols", 1));
    assert_eq!(parameter(1, 65_537, 10), ("symbols", 65_537));
    assert_eq!(parameter(4, 2, 4), ("length", 4));
    assert_eq!(parameter(0, 2, 0), ("length", 0));
    assert_eq!(parameter(0, 2, u64::MAX), ("length", u64::MAX));
    assert!(RepeatPrevious::new(65_536, 65_536, 65_537).is_ok());
}

#[test]
fn tasks_that_differ_have_names_that_differ() {
    let name = |k, symbols, length| RepeatPrevious::new(k, symbols, length).unwrap().spec().name;
    assert_eq!(name(4, 2, 32), "repeat-previous-k4-s2-l32");
    assert_eq!(RepeatPrevious::default(), RepeatPrevious::new(4, 2, 32).unwrap());
    let names = [name(4, 2, 32), name(3, 2, 32), name(4, 3, 32), name(4, 2, 31)];
    for (i, a) in names.iter().enumerate() {
        assert!(names[..i].iter().all(|b| a != b));
    }
}
