//! The loss of PPO and its gradient on the device against crate trainer.

use arith::random::{Stream, uniform};
use arith::simd::Isa;
use arith::sum::sum;
use kernels_tests::{Arg, Bench, assert_bits};
use trainer::loss::{Logits, Ppo, PpoRows, Statistics, Terms, ppo_rows};

/// N: more rows than the block has.
const TOTAL: usize = 1000;

struct Case {
    rows: usize,
    count: usize,
    ppo: Ppo,
    output: Vec<f32>,
    actions: Vec<u32>,
    old_log_probs: Vec<f32>,
    old_values: Vec<f32>,
    advantages: Vec<f32>,
    returns: Vec<f32>,
    weights: Vec<f32>,
}

impl Case {
    fn new(rows: usize, count: usize, value_clip: Option<f32>) -> Self {
        let draws = |stream, n: usize, factor: f32| -> Vec<f32> {
            let stream = Stream::new(31, stream);
            (0..n).map(|i| factor * (2.0 * uniform(stream.block(i as u64)[0]) - 1.0)).collect()
        };
        let words = Stream::new(31, 9);
        Self {
            rows,
            count,
            ppo: Ppo { clip: 0.2, value_clip, value_coefficient: 0.5, entropy_coefficient: 0.01 },
            output: draws(0, rows * (count + 1), 3.0),
            actions: (0..rows).map(|i| words.block(i as u64)[0] % count as u32).collect(),
            // Ratios on both sides of the clip range, and some beyond the bounds of the log-ratio.
            old_log_probs: draws(1, rows, 1.0).iter().map(|x| (x - (count as f32).ln()) * 1.2).collect(),
            old_values: draws(2, rows, 3.0),
            advantages: draws(3, rows, 2.0),
            returns: draws(4, rows, 3.0),
            weights: draws(5, rows, 0.5).iter().map(|w| w + 0.75).collect(),
        }
    }

    /// On the CPU: the gradient and the statistics; none where it finds a fault.
    fn expected(&self) -> Option<(Vec<f32>, Statistics)> {
        let rows = PpoRows {
            output: Logits::new(&self.output, self.count + 1, self.count).unwrap(),
            actions: &self.actions,
            old_log_probs: &self.old_log_probs,
            old_values: &self.old_values,
            advantages: &self.advantages,
            returns: &self.returns,
            weights: &self.weights,
        };
        let (mut d_output, mut terms) = (vec![0.0; self.output.len()], Terms::new(self.rows));
        ppo_rows(Isa::detect(), &self.ppo, TOTAL, &rows, &mut d_output, terms.rows(self.rows)).ok()?;
        Some((d_output, terms.reduce(self.rows)))
    }

    /// On the device: the gradient, the terms, and which row failed.
    fn run(&self) -> (Vec<f32>, Vec<f32>, u32) {
        let bench = Bench::new("loss");
        let Ppo { clip, value_clip, value_coefficient, entropy_coefficient } = self.ppo;
        let range = value_clip.unwrap_or(f32::INFINITY);
        let settings = bench.buffer(&[clip, range, value_coefficient, entropy_coefficient, 1.0 / TOTAL as f32]);
        let (output, actions) = (bench.buffer(&self.output), bench.buffer(&self.actions));
        let mut args: Vec<Arg> = vec![(&settings).into(), (&output).into(), (&actions).into()];
        let columns = [&self.old_log_probs, &self.old_values, &self.advantages, &self.returns, &self.weights];
        args.extend(columns.map(|column| Arg::from(&bench.buffer(column))));
        let (d_output, terms) = (bench.room::<f32>(self.output.len()), bench.room::<f32>(6 * self.rows));
        let failed = bench.buffer(&[u32::MAX]);
        args.extend([Arg::from(&d_output), (&terms).into(), (&failed).into()]);
        args.extend([self.rows, self.count].map(|size| Arg::U32(size as u32)));
        let counters = bench.run("ppo_rows_f32", 32 * self.rows, 128, &args);
        assert_eq!(counters.local_requests, 0);
        (bench.read(&d_output), bench.read(&terms), bench.read(&failed)[0])
    }
}

/// Means of the terms, as `Terms::reduce` takes them.
fn statistics(terms: &[f32], rows: usize) -> Statistics {
    let column = |i: usize| &terms[i * rows..][..rows];
    let mean = |i| sum(column(i)) / rows as f32;
    let ratios = column(5);
    Statistics {
        policy_loss: mean(0),
        value_loss: mean(1),
        entropy: mean(2),
        approx_kl: mean(3),
        clip_fraction: mean(4),
        min_ratio: ratios.iter().copied().fold(f32::INFINITY, f32::min),
        max_ratio: ratios.iter().copied().fold(0.0, f32::max),
    }
}

#[test]
fn losses_have_the_bits_of_the_cpu() {
    // One row alone too: then the statistics are its terms.
    for (rows, count) in [(1, 1), (1, 4), (1, 40), (37, 2), (70, 6), (33, 31), (10, 33), (5, 200), (3, 1024)] {
        for value_clip in [Some(0.3), None] {
            let case = Case::new(rows, count, value_clip);
            let (d_output, expected) = case.expected().unwrap();
            let (got, terms, failed) = case.run();
            let what = format!("{rows} rows of {count}, {value_clip:?}");
            assert_bits(&what, &got, &d_output);
            assert_eq!(statistics(&terms, rows), expected, "{what}");
            assert_eq!(failed, u32::MAX, "{what}");
        }
    }
}

#[test]
fn terms_are_in_their_rows() {
    let case = Case::new(20, 5, Some(0.3));
    let (_, terms, _) = case.run();
    let alone = |row: usize| {
        let take = |column: &[f32]| vec![column[row]];
        let Case { old_log_probs, old_values, advantages, returns, weights, ppo, .. } = &case;
        let [old_log_probs, old_values, advantages, returns, weights] =
            [old_log_probs, old_values, advantages, returns, weights].map(|column| take(column));
        let (output, actions) = (case.output[6 * row..6 * (row + 1)].to_vec(), vec![case.actions[row]]);
        let (rows, count, ppo) = (1, 5, *ppo);
        Case { rows, count, ppo, output, actions, old_log_probs, old_values, advantages, returns, weights }
    };
    for row in 0..20 {
        let of_row: Vec<_> = (0..6).map(|i| terms[20 * i + row]).collect();
        assert_eq!(statistics(&of_row, 1), alone(row).expected().unwrap().1, "{row}");
    }
}

#[test]
fn rows_with_faults_are_told() {
    let spoilt = |spoil: &dyn Fn(&mut Case)| {
        let mut case = Case::new(40, 4, Some(0.2));
        spoil(&mut case);
        assert!(case.expected().is_none());
        case.run().2
    };
    assert_eq!(spoilt(&|case| case.output[5 * 17] = f32::NAN), 17);
    assert_eq!(spoilt(&|case| case.output[5 * 3 + 4] = f32::INFINITY), 3);
    assert_eq!(spoilt(&|case| case.actions[21] = 4), 21);
    assert_eq!(spoilt(&|case| case.old_log_probs[8] = f32::NEG_INFINITY), 8);
    assert_eq!(spoilt(&|case| [39, 12].into_iter().for_each(|row| case.returns[row] = f32::NAN)), 12);
}
