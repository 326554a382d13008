//! Advantages and returns on the device against crate trainer.

use arith::random::{Stream, uniform};
use arith::simd::Isa;
use kernels_tests::{Arg, Bench, assert_bits};
use trainer::advantage::{Discount, OffPolicy, Trajectories, gae, vtrace};

const DISCOUNT: Discount = Discount { gamma: 0.99, lambda: 0.95 };
const RHO_BAR: f32 = 1.25;
const C_BAR: f32 = 0.75;

struct Case {
    steps: usize,
    batch: usize,
    rewards: Vec<f32>,
    values: Vec<f32>,
    terminated: Vec<bool>,
    truncated: Vec<bool>,
    bootstrap: Vec<f32>,
    ratios: Vec<f32>,
    last_values: Vec<f32>,
}

fn draws(stream: u64, n: usize) -> Vec<f32> {
    let stream = Stream::new(9, stream);
    (0..n).map(|i| uniform(stream.block(i as u64)[0])).collect()
}

impl Case {
    fn new(steps: usize, batch: usize) -> Self {
        let n = steps * batch;
        let numbers = |stream, n| draws(stream, n).into_iter().map(|u| 4.0 * u - 2.0).collect::<Vec<_>>();
        let flags = |stream, share| draws(stream, n).into_iter().map(|u| u < share).collect::<Vec<_>>();
        Self {
            steps,
            batch,
            rewards: numbers(0, n),
            values: numbers(1, n),
            // Some steps have both.
            terminated: flags(2, 0.2),
            truncated: flags(3, 0.3),
            bootstrap: numbers(4, n),
            ratios: draws(5, n).into_iter().map(|u| if u > 0.99 { f32::INFINITY } else { 2.0 * u }).collect(),
            last_values: numbers(6, batch),
        }
    }

    /// On the CPU; where it finds a fault, the outputs are unspecified.
    fn expected(&self, off_policy: bool) -> Option<(Vec<f32>, Vec<f32>)> {
        let Self { steps, batch, rewards, values, terminated, truncated, bootstrap, ratios, last_values } = self;
        let (steps, batch) = (*steps, *batch);
        let input = Trajectories { steps, batch, rewards, values, terminated, truncated, bootstrap, last_values };
        let (mut advantages, mut returns) = (vec![0.0; rewards.len()], vec![0.0; rewards.len()]);
        let (isa, off) = (Isa::detect(), OffPolicy { ratios, rho_bar: RHO_BAR, c_bar: C_BAR });
        let result = if off_policy {
            vtrace(isa, &DISCOUNT, &off, &input, &mut advantages, &mut returns)
        } else {
            gae(isa, &DISCOUNT, &input, &mut advantages, &mut returns)
        };
        result.is_ok().then_some((advantages, returns))
    }

    /// On the device, and which environment failed.
    fn run(&self, off_policy: bool) -> (Vec<f32>, Vec<f32>, u32) {
        let bench = Bench::new("advantage");
        let bytes = |flags: &[bool]| bench.buffer(&flags.iter().map(|&flag| u8::from(flag)).collect::<Vec<_>>());
        let (terminated, truncated) = (bytes(&self.terminated), bytes(&self.truncated));
        let [rewards, values, bootstrap, ratios, last_values] =
            [&self.rewards, &self.values, &self.bootstrap, &self.ratios, &self.last_values].map(|x| bench.buffer(x));
        let (advantages, returns) = (bench.room::<f32>(self.rewards.len()), bench.room::<f32>(self.rewards.len()));
        let failed = bench.buffer(&[u32::MAX]);
        let mut args: Vec<Arg> = vec![(&rewards).into(), (&values).into(), (&terminated).into(), (&truncated).into()];
        args.push((&bootstrap).into());
        if off_policy {
            args.push((&ratios).into());
        }
        args.extend([Arg::from(&last_values), (&advantages).into(), (&returns).into(), (&failed).into()]);
        args.extend([Arg::U32(self.steps as u32), Arg::U32(self.batch as u32)]);
        args.extend([Arg::F32(DISCOUNT.gamma), Arg::F32(DISCOUNT.lambda)]);
        if off_policy {
            args.extend([Arg::F32(RHO_BAR), Arg::F32(C_BAR)]);
        }
        let counters = bench.run(if off_policy { "vtrace_f32" } else { "gae_f32" }, self.batch, 64, &args);
        assert_eq!(counters.local_requests, 0);
        (bench.read(&advantages), bench.read(&returns), bench.read(&failed)[0])
    }
}

#[test]
fn estimates_have_the_bits_of_the_cpu() {
    // Around the groups of steps, and the ends of warps and blocks.
    for (steps, batch) in [(1, 1), (7, 3), (8, 33), (9, 64), (16, 65), (37, 40)] {
        let case = Case::new(steps, batch);
        for off_policy in [false, true] {
            let (advantages, returns) = case.expected(off_policy).unwrap();
            let (got_advantages, got_returns, failed) = case.run(off_policy);
            let what = format!("{steps} x {batch}, off-policy {off_policy}");
            assert_bits(&format!("{what}: advantages"), &got_advantages, &advantages);
            assert_bits(&format!("{what}: returns"), &got_returns, &returns);
            assert_eq!(failed, u32::MAX, "{what}");
        }
    }
}

#[test]
fn environments_with_numbers_that_arent_finite_are_told() {
    let (steps, batch) = (12, 40);
    let spoilt = |off_policy: bool, spoil: &dyn Fn(&mut Case)| {
        let mut case = Case::new(steps, batch);
        spoil(&mut case);
        assert!(case.expected(off_policy).is_none());
        case.run(off_policy).2
    };
    assert_eq!(spoilt(false, &|case| case.rewards[5 * batch + 31] = f32::NAN), 31);
    assert_eq!(spoilt(true, &|case| case.values[11 * batch + 7] = f32::INFINITY), 7);
    assert_eq!(spoilt(true, &|case| case.ratios[3 * batch + 12] = -0.5), 12);
    // The smallest of several.
    assert_eq!(spoilt(false, &|case| [39, 20, 33].into_iter().for_each(|b| case.rewards[b] = f32::NEG_INFINITY)), 20);
    // What isn't read does no harm.
    let mut case = Case::new(steps, batch);
    (case.truncated[0], case.bootstrap[0]) = (false, f32::NAN);
    assert_eq!(case.run(false).2, u32::MAX);
}
