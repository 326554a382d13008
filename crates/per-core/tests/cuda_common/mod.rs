//! What the tests on a device share. They run on any driver: an emulated one finds more faults.
#![allow(dead_code, reason = "no test uses all of it")]

use gpu::{Buffer, Device, Pod, Stream};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use std::fmt::Debug;

pub(crate) fn stream() -> Stream {
    let device = Device::new(0).unwrap_or_else(|error| panic!("{error}; `cargo xtask test` brings a driver along"));
    device.stream().unwrap()
}

/// Seeds of the emulator's order of blocks and warps; a GPU has an order of its own each time.
const SEEDS: [&str; 4] = ["0", "1", "77", "18446744073709551615"];

/// Runs the ignored test `child` once for each seed; by turns, work also waits until something synchronizes.
pub(crate) fn in_every_order(child: &str) {
    for (i, seed) in SEEDS.into_iter().enumerate() {
        let late = (i % 2).to_string();
        test_support::run_apart(child, |command| {
            command.env("LOCKSTEP_EMU_SEED", seed).env("LOCKSTEP_EMU_ASYNC", &late)
        });
    }
}

/// Runs `test` on so many values.
pub(crate) fn for_any<S: Strategy>(cases: u32, strategy: &S, test: impl Fn(S::Value))
where
    S::Value: Debug,
{
    let mut runner = TestRunner::new(ProptestConfig::with_cases(cases));
    let result = runner.run(strategy, |value| {
        test(value);
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
}

/// Priorities of all magnitudes, many of them alike.
pub(crate) fn weight() -> impl Strategy<Value = f32> {
    prop_oneof![
        4 => 0.5_f32..4.0,
        2 => (0_u32..8).prop_map(|i| i as f32),
        1 => Just(-0.0),
        1 => (1_u32..6).prop_map(f32::from_bits),
        1 => Just(f32::MAX),
        1 => (0_u32..0x7f80_0000).prop_map(f32::from_bits),
    ]
}

/// Numbers of items around full blocks, nodes, levels and tiles.
pub(crate) fn sizes() -> impl Strategy<Value = usize> {
    prop_oneof![1..40_usize, prop::sample::select(vec![255, 256, 257, 1000, 4095, 4097])]
}

pub(crate) fn upload<T: Pod>(stream: &Stream, elements: &[T]) -> Buffer<T> {
    Buffer::from_slice(stream, elements).unwrap()
}

pub(crate) fn room<T: Pod>(stream: &Stream, len: usize) -> Buffer<T> {
    Buffer::uninit(stream.device(), len).unwrap()
}

pub(crate) fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}
