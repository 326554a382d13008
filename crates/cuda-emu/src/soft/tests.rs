//! Rounding to nearest against the host's instructions, over random bits of all exponents and over edges.

use super::{F32, F64, Rounding, add, convert, div, fma, mul, sqrt};

fn next(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

fn same32(soft: u64, host: f32) -> bool {
    soft == u64::from(host.to_bits()) || host.is_nan() && soft == F32.nan
}

fn same64(soft: u64, host: f64) -> bool {
    soft == host.to_bits() || host.is_nan() && soft == F64.nan
}

#[test]
fn singles_as_the_host_rounds() {
    let mut state = 0x1234_5678_9abc_def1;
    let edges = [0_u32, 1 << 31, 1, 2, 0x007f_ffff, 0x0080_0000, 0x3f80_0000, 0x7f7f_ffff, 0x7f80_0000, 0x7fc0_0000];
    let mut draw =
        |i: usize| if i.is_multiple_of(5) { edges[next(&mut state) as usize % 10] } else { next(&mut state) as u32 };
    for i in 0..200_000 {
        let bits = [draw(i), draw(i / 5), draw(i / 25)];
        let [a, b, c] = bits.map(f32::from_bits);
        let [x, y, z] = bits.map(u64::from);
        let n = Rounding::Nearest;
        assert!(same32(add(F32, n, x, y), a + b), "{bits:x?}");
        assert!(same32(mul(F32, n, x, y), a * b), "{bits:x?}");
        assert!(same32(div(F32, n, x, y), a / b), "{bits:x?}");
        assert!(same32(fma(F32, n, x, y, z), a.mul_add(b, c)), "{bits:x?}");
        assert!(same32(sqrt(F32, n, x), a.sqrt()), "{bits:x?}");
        assert!(same64(convert(F32, F64, n, x), a.into()), "{bits:x?}");
    }
}

#[test]
fn doubles_as_the_host_rounds() {
    let mut state = 0x1234_5678_9abc_def1;
    let edges = [0_u64, 1 << 63, 1, 0x000f_ffff_ffff_ffff, 1 << 52, 1.0_f64.to_bits(), f64::MAX.to_bits(), 0x7ff << 52];
    let mut draw = |i: usize| match i % 4 {
        0 => edges[next(&mut state) as usize % 8],
        // Near 1, so that sums cancel.
        1 => next(&mut state) >> 12 | 1.0_f64.to_bits() ^ (next(&mut state) & 1) << 63,
        _ => next(&mut state),
    };
    for i in 0..200_000 {
        let bits = [draw(i), draw(i / 4), draw(i / 16)];
        let [a, b, c] = bits.map(f64::from_bits);
        let [x, y, z] = bits;
        let n = Rounding::Nearest;
        assert!(same64(add(F64, n, x, y), a + b), "{bits:x?}");
        assert!(same64(mul(F64, n, x, y), a * b), "{bits:x?}");
        assert!(same64(div(F64, n, x, y), a / b), "{bits:x?}");
        assert!(same64(fma(F64, n, x, y, z), a.mul_add(b, c)), "{bits:x?}");
        assert!(same64(sqrt(F64, n, x), a.sqrt()), "{bits:x?}");
        assert!(same32(convert(F64, F32, n, x), a as f32), "{bits:x?}");
    }
}
