//! The software operations against the instructions.
#![cfg(feature = "std")]

use arith::elementary::soft;
use arith::random::Stream;

fn edges() -> Vec<f32> {
    let mut x =
        vec![0.0, 1.0, 1.5, 2.0, 3.0, f32::EPSILON, f32::MIN_POSITIVE, f32::MAX, f32::INFINITY, f32::NAN, 1e-30, 1e30];
    x.extend(
        [1, 2, 3, 0x40_0000, 0x7f_ffff, 0x80_0001, 0x3f80_0001, 0x3f7f_ffff, 0x3fff_ffff, 0x4b7f_ffff, 0x5f80_0001]
            .map(f32::from_bits),
    );
    x.extend(x.clone().into_iter().map(|x| -x));
    x
}

#[track_caller]
fn check_fma(a: f32, b: f32, c: f32) {
    let (got, want) = (soft::fma(a, b, c), a.mul_add(b, c));
    assert!(
        got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan(),
        "fma({a:e}, {b:e}, {c:e}): {got:e}, not {want:e}"
    );
}

#[test]
fn fma_on_a_grid_of_edges() {
    let edges = edges();
    for &a in &edges {
        for &b in &edges {
            for &c in &edges {
                check_fma(a, b, c);
            }
        }
    }
}

#[test]
fn fma_on_random_bits() {
    let stream = Stream::new(2, 0);
    for i in 0..1_000_000_u64 {
        let [a, b, c, d] = stream.block(i);
        check_fma(f32::from_bits(a), f32::from_bits(b), f32::from_bits(c));
        // Sums that nearly cancel, and products next to a tie of the sum.
        let (a, b) = (f32::from_bits(a), f32::from_bits(b));
        check_fma(a, b, -(a * b));
        check_fma(a, b, f32::from_bits((a * b).to_bits() ^ (d & 0x8000_0003)));
        // Results around the smallest normal number: 2^-149 ... 2^-100.
        let small = |w: u32| f32::from_bits((w & 0x807f_ffff) | ((w >> 23 & 31) + 40) << 23);
        check_fma(small(a.to_bits()), small(b.to_bits()), f32::from_bits(c & 0x80ff_ffff));
        // A tiny addend beside a tie: the sticky bit alone decides.
        let even = f32::from_bits(0x3f80_0000 | (c & 0xfff) << 12);
        let tie = f32::from_bits(0x3f80_0000 | (d & 0xfff) << 11);
        check_fma(even, tie, f32::from_bits(d & 0x8000_00ff));
    }
}

#[test]
fn square_root() {
    for x in edges() {
        assert!(soft::sqrt(x).to_bits() == x.sqrt().to_bits() || x.sqrt().is_nan() && soft::sqrt(x).is_nan(), "{x:e}");
    }
    for bits in (0..0x7f80_0000_u32).step_by(1999) {
        let x = f32::from_bits(bits);
        assert_eq!(soft::sqrt(x).to_bits(), x.sqrt().to_bits(), "{x:e}");
    }
}
