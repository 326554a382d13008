//! The tiled scan gives the bits of the serial contract oracle, whatever the interval, instruction set and threads.
mod common;
use common::*;
use half::bf16;
use mingru::Par;

const INTERVALS: [usize; 4] = [1, 4, 8, 16];
const RESETS: [Resets; 3] = [Resets::Never, Resets::Sometimes, Resets::Always];

/// All intervals of one case, by turns over instruction sets and thread counts.
fn check<S: Format>(turn: usize, shape: (usize, usize, usize), resets: Resets, pools: &[rayon::ThreadPool]) {
    let (case, expected) = expected::<S>(&case(turn as u64, shape, resets));
    let isas = isas();
    for (i, interval) in INTERVALS.into_iter().enumerate() {
        let isa = isas[(turn + i) % isas.len()];
        let pool = &pools[(turn * 3 + i) % pools.len()];
        let what = format!(
            "{} shape {shape:?} K {interval} {resets:?} {isa:?} {} threads, seed {turn}",
            std::any::type_name::<S>(),
            pool.current_num_threads()
        );
        let got = pool.install(|| run::<S>(&case, interval, isa, Par::Rayon));
        assert_results(&what, &case, interval, &expected, &got);
        let got = run::<S>(&case, interval, isas[(turn + i + 1) % isas.len()], Par::Serial);
        assert_results(&format!("{what}, serial"), &case, interval, &expected, &got);
    }
}

fn pools() -> Vec<rayon::ThreadPool> {
    (1..=8).map(|n| rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap()).collect()
}

#[test]
fn every_time_from_1_to_257_at_small_widths() {
    let pools = pools();
    let mut turn = 0;
    for time in 1..=257 {
        for hidden in [1, 3, 16, 33] {
            // B by turns; 7 only where it is cheap.
            let batch = [1, 2, 7][(turn / 5) % if time * hidden < 2_000 { 3 } else { 2 }];
            let resets = RESETS[turn % 3];
            check::<f32>(turn, (batch, time, hidden), resets, &pools);
            if turn % 2 == 0 {
                check::<bf16>(turn, (batch, time, hidden), resets, &pools);
            }
            turn += 1;
        }
    }
}

#[test]
fn chosen_times_at_all_widths_and_batches() {
    let pools = pools();
    let mut turn = 10_000;
    // One step, around every interval, around powers of two, and the longest.
    for time in [1, 2, 4, 5, 7, 8, 9, 15, 16, 17, 33, 64, 257] {
        for hidden in [1, 3, 16, 33, 64, 256] {
            for batch in [1, 2, 7] {
                if hidden * time * batch > 70_000 && hidden * time * batch != 256 * 257 * 7 {
                    continue;
                }
                for resets in RESETS {
                    if time * hidden * batch > 10_000 && resets != RESETS[turn % 3] {
                        continue;
                    }
                    check::<f32>(turn, (batch, time, hidden), resets, &pools);
                    check::<bf16>(turn + 1, (batch, time, hidden), resets, &pools);
                }
                turn += 2;
            }
        }
    }
}

#[test]
fn odd_intervals_and_empty_shapes() {
    for shape in [(2, 130, 5), (1, 64, 100), (0, 3, 4), (3, 0, 4), (3, 4, 0)] {
        for interval in [2, 3, 5, 63, 64] {
            let (case, expected) = expected::<f32>(&case(7, shape, Resets::Sometimes));
            let got = run::<f32>(&case, interval, arith::simd::Isa::detect(), Par::Serial);
            assert_results(&format!("shape {shape:?} K {interval}"), &case, interval, &expected, &got);
        }
    }
}

#[test]
fn a_rollout_of_steps_is_the_scan() {
    for (turn, shape) in
        [(1, 40, 1), (2, 33, 3), (7, 20, 16), (2, 50, 33), (3, 20, 64), (2, 10, 256)].into_iter().enumerate()
    {
        for resets in RESETS {
            for isa in isas() {
                let what = format!("shape {shape:?} {resets:?} {isa:?}");
                let (case_f32, e) = expected::<f32>(&case(turn as u64, shape, resets));
                let (h, out) = rollout::<f32>(&case_f32, isa);
                assert_bits(&what, "h", &e.h, &h);
                assert_bits(&what, "out", &e.out, &out);
                let (case_bf16, e) = expected::<bf16>(&case(turn as u64, shape, resets));
                let (h, out) = rollout::<bf16>(&case_bf16, isa);
                assert_bits(&what, "h in bf16", &e.h, &h);
                assert_bits(&what, "out in bf16", &e.out, &out);
            }
        }
    }
}
