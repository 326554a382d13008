//! Draws on the device.

use arith::random::Stream;
use bytemuck::Pod;
use kernels_tests::{Arg, Bench, assert_bits};

const SEED: u64 = 0x0123_4567_89ab_cdef;
const STREAM: u64 = 0xfedc_ba98_7654_3210;

fn compare<T: Pod + PartialEq + std::fmt::Debug>(
    kernel: &str,
    per: usize,
    more: &[Arg],
    fill: impl Fn(&Stream, u64, &mut [T]),
) {
    let bench = Bench::new("random");
    // Within, at and across the ends of blocks of the stream, and of blocks of threads.
    for first in [0, 1, 2, 3, 4, 5, 0xffff_fffe, (1 << 40) + 7] {
        for n in [0, 1, 2, 3, 4, 5, 127, 513] {
            let out = bench.room::<T>(n);
            let args = [&[Arg::U64(SEED), Arg::U64(STREAM), Arg::U64(first)], more];
            let args = [args.concat(), vec![(&out).into(), Arg::U32(n as u32)]].concat();
            bench.run(kernel, n / per + 2, 64, &args);
            let mut expected = vec![T::zeroed(); n];
            fill(&Stream::new(SEED, STREAM), first, &mut expected);
            assert_eq!(bench.read(&out), expected, "{kernel} {first} {n}");
        }
    }
}

/// A block of the stream is stored as a whole where 16 bytes are aligned; elsewhere nothing else changes.
#[test]
fn any_alignment() {
    let bench = Bench::new("random");
    for (first, skipped) in [(0, 1), (0, 2), (0, 3), (3, 1), (3, 3), (1, 3)] {
        let (n, out) = (513, bench.room::<f32>(516));
        let args = [Arg::U64(SEED), Arg::U64(STREAM), Arg::U64(first), out.at(skipped), Arg::U32(n as u32)];
        bench.run("fill_uniform_f32", n / 4 + 2, 64, &args);
        let mut expected = vec![0.0; n];
        Stream::new(SEED, STREAM).fill_uniform(first, &mut expected);
        assert_bits("any alignment", &bench.read_part(&out, skipped, n), &expected);
    }
}

#[test]
fn words() {
    compare("fill_words_u32", 4, &[], Stream::fill_words);
    compare("fill_double_words_u64", 2, &[], Stream::fill_double_words);
}

#[test]
fn floats() {
    compare("fill_uniform_f32", 4, &[], Stream::fill_uniform);
    compare("fill_uniform_positive_f32", 4, &[], Stream::fill_uniform_positive);
    compare("fill_normal_f32", 4, &[], Stream::fill_normal);
}

#[test]
fn integers() {
    for total in [1, 1000, u64::MAX] {
        compare("fill_bounded_u64", 2, &[Arg::U64(total)], |stream, first, out| stream.fill_bounded(first, total, out));
    }
}
