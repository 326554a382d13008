//! Categorical policies: probabilities against f64, bits against the documented operations, draws by chi-square.

use arith::random::Stream;
use arith::simd::Isa;
use trainer::loss::{Error, Logits, categorical};

const ISAS: [Isa; 3] = [Isa::Scalar, Isa::Avx2, Isa::Avx512];

/// (rows, stride) logits in [-range, range].
fn random(n: usize, range: f32, seed: u64) -> Vec<f32> {
    let stream = Stream::new(seed, 0);
    (0..n as u64).map(|i| range * (2.0 * arith::random::uniform(stream.block(i)[0]) - 1.0)).collect()
}

fn words(n: usize, seed: u64) -> Vec<u32> {
    (0..n as u64).map(|i| Stream::new(seed, 1).block(i)[0]).collect()
}

/// Log-probabilities of one row in f64; -inf where masked.
fn exact(z: &[f32], legal: Option<&[bool]>) -> Vec<f64> {
    let z: Vec<f64> =
        (0..z.len()).map(|a| if legal.is_none_or(|l| l[a]) { f64::from(z[a]) } else { f64::NEG_INFINITY }).collect();
    let top = z.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = z.iter().map(|z| (z - top).exp()).sum();
    z.iter().map(|z| z - top - sum.ln()).collect()
}

fn exact_entropy(log_probs: &[f64]) -> f64 {
    -log_probs.iter().filter(|l| l.is_finite()).map(|l| l.exp() * l).sum::<f64>()
}

/// Adjacent pairs over 32 lanes, lane j the sum of elements j, j + 32, ... from +0.
fn contract_sum(x: &[f32]) -> f32 {
    let mut level: Vec<f32> = (0..32).map(|j| x.iter().skip(j).step_by(32).fold(0.0, |sum, x| sum + x)).collect();
    while level.len() > 1 {
        level = level.chunks(2).map(|pair| pair[0] + pair[1]).collect();
    }
    level[0]
}

/// Log-probabilities and entropy of one row by the documented operations.
fn documented(z: &[f32]) -> (Vec<f32>, f32) {
    let top = z.iter().copied().fold(f32::NEG_INFINITY, |a, b| if b > a { b } else { a });
    let exps: Vec<f32> = z.iter().map(|z| arith::exp(z - top)).collect();
    let sum = contract_sum(&exps);
    let log_probs: Vec<f32> = z.iter().map(|z| (z - top) - arith::ln(sum)).collect();
    let terms: Vec<f32> = exps
        .iter()
        .zip(&log_probs)
        .map(|(e, l)| {
            let p = e * (1.0 / sum);
            if p == 0.0 { 0.0 } else { -(p * l) }
        })
        .collect();
    (log_probs, contract_sum(&terms))
}

#[test]
fn the_bits_are_the_documented_operations_on_every_instruction_set() {
    // Edges of the lanes of a sum (32), of the tiles of actions (8, 64) and of the tiles of rows (16, 32).
    for actions in [1, 2, 3, 5, 8, 9, 31, 32, 33, 64, 65, 200, 1024] {
        for rows in [0, 1, 15, 16, 17, 33] {
            let stride = actions + 2;
            let data = random(rows * stride, 5.0, (actions * 100 + rows) as u64);
            let chosen: Vec<u32> = (0..rows).map(|r| (r * 7 % actions) as u32).collect();
            let logits = Logits::new(&data, stride, actions).unwrap();
            for isa in ISAS {
                let (mut log_probs, mut entropies) = (vec![0.0; rows], vec![0.0; rows]);
                logits.log_probs(isa, &chosen, &mut log_probs, &mut entropies).unwrap();
                for row in 0..rows {
                    let (expected, entropy) = documented(&data[row * stride..][..actions]);
                    let a = chosen[row] as usize;
                    assert_eq!(log_probs[row].to_bits(), expected[a].to_bits(), "{isa:?} {actions} {row}");
                    assert_eq!(entropies[row].to_bits(), entropy.to_bits(), "{isa:?} {actions} {row}");
                }
            }
        }
    }
}

#[test]
fn log_probabilities_and_entropies_are_right() {
    for (actions, range) in [(2, 1.0), (3, 10.0), (18, 30.0), (64, 3.0), (300, 5.0)] {
        let rows = 50;
        let data = random(rows * actions, range, actions as u64);
        let chosen: Vec<u32> = (0..rows).map(|r| (r * 11 % actions) as u32).collect();
        let (mut log_probs, mut entropies) = (vec![0.0; rows], vec![0.0; rows]);
        let logits = Logits::new(&data, actions, actions).unwrap();
        logits.log_probs(Isa::detect(), &chosen, &mut log_probs, &mut entropies).unwrap();
        for row in 0..rows {
            let expected = exact(&data[row * actions..][..actions], None);
            // The subtractions round numbers up to 2 range; exp, sums and ln add a few units.
            let tolerance = f64::from(8.0 + 4.0 * range) * 2f64.powi(-24);
            let got = f64::from(log_probs[row]);
            assert!((got - expected[chosen[row] as usize]).abs() < tolerance, "{actions} {row}");
            // A relative error of each p and ln p of `tolerance`, entropies up to ln(actions).
            let entropy = exact_entropy(&expected);
            let tolerance = tolerance * (4.0 + 2.0 * (actions as f64).ln());
            assert!((f64::from(entropies[row]) - entropy).abs() < tolerance, "{actions} {row}");
        }
    }
}

#[test]
fn case_26_masked_actions() {
    let legal = [true, true, false];
    let (mut log_probs, mut entropies) = ([0.0], [0.0]);
    for isa in ISAS {
        let logits = Logits::new(&[1.0, 2.0, 3.0], 3, 3).unwrap().with_legal(&legal).unwrap();
        logits.log_probs(isa, &[1], &mut log_probs, &mut entropies).unwrap();
        assert!((entropies[0] - 0.582_203).abs() < 1e-6, "{entropies:?}");
        assert!((log_probs[0] + 0.313_261_7).abs() < 1e-6, "{log_probs:?}");

        // A legal logit far below every usual stand-in for a mask.
        let logits = Logits::new(&[5.0, -20_000.0], 2, 2).unwrap().with_legal(&[false, true]).unwrap();
        logits.log_probs(isa, &[1], &mut log_probs, &mut entropies).unwrap();
        assert_eq!((log_probs[0], entropies[0]), (0.0, 0.0));
        for word in [0, 1, 1 << 31, u32::MAX] {
            let mut action = [9];
            logits.sample(isa, &[word], &mut action, &mut log_probs).unwrap();
            assert_eq!((action[0], log_probs[0]), (1, 0.0));
        }
        let mut action = [9];
        logits.greedy(&mut action).unwrap();
        assert_eq!(action, [1]);

        // A masked action that was taken is an error, not a log-probability of -inf.
        let error = logits.log_probs(isa, &[0], &mut log_probs, &mut entropies).unwrap_err();
        assert!(matches!(error, Error::Action { row: 0, action: 0, actions: 1, .. }), "{error}");
    }
    let error = Logits::new(&[0.0; 9], 3, 3)
        .unwrap()
        .with_legal(&[true, false, false, false, false, true, false, false, false])
        .unwrap_err();
    assert_eq!(error, Error::NoLegalAction { operation: "Logits::with_legal", row: 2 });
}

#[test]
fn masked_rows_are_rows_without_the_masked_actions() {
    let (rows, actions) = (40, 7);
    let data = random(rows * actions, 4.0, 12);
    let legal: Vec<bool> = words(rows * actions, 3)
        .iter()
        .enumerate()
        .map(|(i, w)| w % 2 == 0 || i % actions == i / actions % actions)
        .collect();
    let logits = Logits::new(&data, actions, actions).unwrap().with_legal(&legal).unwrap();
    let mut chosen = vec![0; rows];
    let mut sampled = vec![0.0; rows];
    logits.sample(Isa::detect(), &words(rows, 4), &mut chosen, &mut sampled).unwrap();
    let (mut log_probs, mut entropies) = (vec![0.0; rows], vec![0.0; rows]);
    logits.log_probs(Isa::detect(), &chosen, &mut log_probs, &mut entropies).unwrap();
    assert_eq!(sampled, log_probs);
    for row in 0..rows {
        let at = row * actions..(row + 1) * actions;
        let a = chosen[row] as usize;
        assert!(legal[at.clone()][a]);
        let expected = exact(&data[at.clone()], Some(&legal[at]));
        assert!((f64::from(log_probs[row]) - expected[a]).abs() < 3e-6);
        assert!((f64::from(entropies[row]) - exact_entropy(&expected)).abs() < 3e-6);
    }
}

/// The draw as documented, on integers.
fn draw(z: &[f32], word: u32) -> u32 {
    let top = z.iter().copied().fold(f32::NEG_INFINITY, |a, b| if b > a { b } else { a });
    let scale = 2f64.powi(31 - z.len().next_power_of_two().trailing_zeros() as i32);
    let weights: Vec<u128> = z
        .iter()
        .map(|z| f64::from(arith::exp(z - top)) * scale)
        .map(|w| if w > 0.0 && w < 1.0 { 1 } else { (w + 0.5).floor() as u128 })
        .collect();
    let threshold = (u128::from(word) * weights.iter().sum::<u128>()) >> 32;
    let mut running = 0;
    for (a, w) in (0..).zip(weights) {
        running += w;
        if running > threshold {
            return a;
        }
    }
    unreachable!("the threshold is below the total")
}

#[test]
fn draws_are_the_documented_inverse_on_every_instruction_set() {
    for actions in [1, 2, 3, 8, 9, 64, 65, 1000, 1024] {
        let rows = 70;
        let data = random(rows * actions, 8.0, actions as u64);
        let mut words = words(rows, 2);
        words[..4].copy_from_slice(&[0, u32::MAX, 1, u32::MAX - 1]);
        let logits = Logits::new(&data, actions, actions).unwrap();
        for isa in ISAS {
            let (mut chosen, mut log_probs) = (vec![0; rows], vec![0.0; rows]);
            logits.sample(isa, &words, &mut chosen, &mut log_probs).unwrap();
            let (mut again, mut entropies) = (vec![0.0; rows], vec![0.0; rows]);
            logits.log_probs(isa, &chosen, &mut again, &mut entropies).unwrap();
            for row in 0..rows {
                assert_eq!(chosen[row], draw(&data[row * actions..][..actions], words[row]), "{isa:?} {actions} {row}");
                // Case 31: the same bits when they are computed again.
                assert_eq!(log_probs[row].to_bits(), again[row].to_bits());
            }
        }
    }
}

#[test]
fn actions_without_probability_are_never_drawn() {
    // exp(-200) is 0 beside the largest; -inf is 0 whatever the others are.
    let z = [f32::NEG_INFINITY, 0.0, -200.0, 0.3, f32::NEG_INFINITY, -300.0];
    let logits = Logits::new(&z, 6, 6).unwrap();
    let mut seen = [0; 6];
    for i in 0..4096_u32 {
        let word = i.wrapping_mul(0x0010_0000).wrapping_add(if i % 2 == 0 { 0 } else { 0x000f_ffff });
        let (mut action, mut log_prob) = ([0], [0.0]);
        logits.sample(Isa::detect(), &[word], &mut action, &mut log_prob).unwrap();
        seen[action[0] as usize] += 1;
    }
    assert_eq!(seen.iter().filter(|&&n| n > 0).count(), 2, "{seen:?}");
    assert!(seen[1] > 0 && seen[3] > 0);
    // Equal logits, a sweep of words: as even as integers allow.
    let logits = Logits::new(&[0.25; 4], 4, 4).unwrap();
    let mut seen = [0; 4];
    for i in 0..4096_u32 {
        let mut action = [0];
        logits.sample(Isa::detect(), &[i << 20], &mut action, &mut [0.0]).unwrap();
        seen[action[0] as usize] += 1;
    }
    assert_eq!(seen, [1024; 4]);
}

#[test]
fn draws_have_the_distribution_of_the_softmax() {
    let z = [0.3, -1.2, 1.1, 0.0, -0.4];
    let rows = 100_000;
    let data: Vec<f32> = z.iter().copied().cycle().take(rows * 5).collect();
    let (mut chosen, mut log_probs) = (vec![0; rows], vec![0.0; rows]);
    let logits = Logits::new(&data, 5, 5).unwrap();
    logits.sample(Isa::detect(), &words(rows, 77), &mut chosen, &mut log_probs).unwrap();
    let mut counts = [0.0; 5];
    for &a in &chosen {
        counts[a as usize] += 1.0;
    }
    // Chi-square with 4 degrees of freedom: 18.5 at alpha = 0.001.
    let expected = exact(&z, None);
    let chi: f64 = (0..5)
        .map(|a| {
            let e = expected[a].exp() * rows as f64;
            (counts[a] - e) * (counts[a] - e) / e
        })
        .sum();
    assert!(chi < 18.5, "{counts:?} {chi}");
}

#[test]
fn greedy_takes_the_first_of_the_likeliest() {
    assert_eq!(categorical::greedy(&[]), 0);
    assert_eq!(categorical::greedy(&[f32::NEG_INFINITY, -3.0, -3.0]), 1);
    assert_eq!(categorical::greedy(&[1.0, f32::NAN, 2.0]), 2);
    let mut actions = [9; 2];
    Logits::new(&[1.0, 0.0, 9.0, 0.0, 1.0, 9.0], 3, 2).unwrap().greedy(&mut actions).unwrap();
    assert_eq!(actions, [0, 1]);
}

#[test]
fn bad_rows_are_named() {
    let rows = 40;
    for isa in ISAS {
        for bad in [f32::NAN, f32::INFINITY] {
            for row in [0, 15, 16, 39] {
                let mut data = random(rows * 4, 2.0, 1);
                data[row * 4 + 2] = bad;
                let logits = Logits::new(&data, 4, 3).unwrap();
                let (mut actions, mut log_probs, mut entropies) = (vec![0; rows], vec![0.0; rows], vec![0.0; rows]);
                let error = logits.sample(isa, &words(rows, 1), &mut actions, &mut log_probs).unwrap_err();
                assert_eq!(error.to_string(), format!("sample: a logit of row {row} is {bad}"));
                let error = logits.log_probs(isa, &vec![0; rows], &mut log_probs, &mut entropies).unwrap_err();
                assert_eq!(error.to_string(), format!("log_probs: a logit of row {row} is {bad}"));
            }
        }
        let data = random(rows * 3, 2.0, 1);
        let logits = Logits::new(&data, 3, 3).unwrap();
        let mut actions = vec![2; rows];
        actions[33] = 3;
        let error = logits.log_probs(isa, &actions, &mut vec![0.0; rows], &mut vec![0.0; rows]).unwrap_err();
        assert!(matches!(error, Error::Action { row: 33, action: 3, actions: 3, .. }));
        actions[33] = u32::MAX;
        assert!(logits.log_probs(isa, &actions, &mut vec![0.0; rows], &mut vec![0.0; rows]).is_err());
        let none = [f32::NEG_INFINITY; 4];
        let error = Logits::new(&none, 2, 2).unwrap().sample(isa, &[1, 2], &mut [0; 2], &mut [0.0; 2]).unwrap_err();
        assert_eq!(error, Error::NoLegalAction { operation: "sample", row: 0 });
    }
}

#[test]
fn shapes_are_checked() {
    assert!(matches!(Logits::new(&[0.0; 6], 3, 0), Err(Error::Actions { .. })));
    assert!(matches!(Logits::new(&[0.0; 6], 3, 4), Err(Error::Actions { .. })));
    assert!(matches!(Logits::new(&[0.0; 6], 0, 0), Err(Error::Actions { .. })));
    assert!(matches!(Logits::new(&[0.0; 2000], 2000, 1025), Err(Error::Actions { most: 1024, .. })));
    assert!(matches!(Logits::new(&[0.0; 7], 3, 2), Err(Error::Length { expected: 9, got: 7, .. })));
    let logits = Logits::new(&[0.0; 6], 3, 2).unwrap();
    assert_eq!((logits.rows(), logits.actions()), (2, 2));
    assert!(matches!(logits.with_legal(&[true; 3]), Err(Error::Length { .. })));
    let isa = Isa::detect();
    assert!(logits.sample(isa, &[0; 1], &mut [0; 2], &mut [0.0; 2]).is_err());
    assert!(logits.sample(isa, &[0; 2], &mut [0; 1], &mut [0.0; 2]).is_err());
    assert!(logits.sample(isa, &[0; 2], &mut [0; 2], &mut [0.0; 1]).is_err());
    assert!(logits.log_probs(isa, &[0; 1], &mut [0.0; 2], &mut [0.0; 2]).is_err());
    assert!(logits.log_probs(isa, &[0; 2], &mut [0.0; 3], &mut [0.0; 2]).is_err());
    assert!(logits.log_probs(isa, &[0; 2], &mut [0.0; 2], &mut [0.0; 1]).is_err());
    assert!(logits.greedy(&mut [0; 3]).is_err());
}
