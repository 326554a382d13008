//! Fixed-point weights against exact integer arithmetic.

use arith::fixed::{
    FixedError, MAX_LEAVES, Scale, bounded, is_weight, largest_weight, largest_weight_with, to_f32, to_f64,
};
use arith::random::Stream;
use arith::simd::Isa;

/// round(w * 2^s), ties to even, at least 1 for w > 0, by division of the exact significand.
fn oracle(w: f32, s: i32) -> u128 {
    let bits = w.to_bits() & 0x7fff_ffff;
    let (m, e) = match bits >> 23 {
        0 => (u128::from(bits), -149),
        e => (u128::from(bits & 0x7f_ffff | 0x80_0000), e as i32 - 150),
    };
    if m == 0 {
        return 0;
    }
    let shift = e + s;
    let q = if shift >= 0 {
        m << shift
    } else if shift < -100 {
        0
    } else {
        let unit = 1_u128 << -shift;
        let (q, rest) = (m / unit, m % unit);
        q + u128::from(2 * rest > unit || 2 * rest == unit && q % 2 == 1)
    };
    q.max(1)
}

fn weights() -> Vec<f32> {
    let mut w = vec![0.0, -0.0, 1.0, 0.5, 3e38, f32::MAX, f32::MIN_POSITIVE, 1e-38, 1e-45, 0.1, 16_777_217.0];
    w.extend([1, 2, 3, 5, 0x7f_ffff, 0x80_0000, 0x3f7f_ffff, 0x3f80_0001].map(f32::from_bits));
    w.extend((0..0x7f80_0000_u32).step_by(1_000_003).map(f32::from_bits));
    w
}

#[test]
fn quantize_is_the_rounded_product() {
    for largest in [f32::MAX, 3e38, 1.0, 0.9999, 1.0001, 1e-20, f32::MIN_POSITIVE, 1e-40, f32::from_bits(1)] {
        for leaves in [0, 1, 2, 3, 16, 1000, 1 << 20, (1 << 20) + 1, 1 << 30, MAX_LEAVES] {
            let scale = Scale::new(largest, leaves).unwrap();
            // No total reaches 2^63.
            let most = oracle(largest, scale.exponent());
            assert!(most * (leaves as u128) < 1 << 63 || leaves == 0, "{largest:e} {leaves}");
            assert!(scale.fits(largest));
            for w in weights().into_iter().filter(|&w| w <= largest) {
                let want = oracle(w, scale.exponent());
                assert_eq!(u128::from(scale.quantize(w)), want, "{w:e} of {largest:e}, {leaves} leaves");
                assert_eq!(u128::from(scale.quantize_by_integers(w)), want, "{w:e} of {largest:e}, {leaves} leaves");
                assert_eq!(w == 0.0, want == 0);
            }
        }
    }
}

#[test]
fn near_the_largest_weight_nothing_is_lost() {
    for largest in [1.0_f32, 1.999_999_9, 3e38, 7e-39, 1e-45] {
        let scale = Scale::new(largest, 1 << 20).unwrap();
        let least = largest / 524_288.0;
        let stream = Stream::new(5, 0);
        for i in 0..10_000 {
            let w = least + (largest - least) * stream.uniform(i);
            assert_eq!(to_f64(scale.quantize(w), scale), f64::from(w));
            assert_eq!(to_f32(scale.quantize(w), scale).to_bits(), w.to_bits());
        }
        assert_eq!(to_f64(scale.quantize(least), scale), f64::from(least));
    }
}

#[test]
fn case_6_two_weights_whose_float_sum_overflows() {
    let weights = [3e38_f32, 3e38];
    let scale = Scale::new(largest_weight(&weights).unwrap(), weights.len()).unwrap();
    let total: u64 = weights.iter().map(|&w| scale.quantize(w)).sum();
    assert_eq!(scale.quantize(weights[0]) * 2, total);
    assert_eq!(to_f32(total, scale), f32::INFINITY);
    assert_eq!(to_f64(total, scale), 2.0 * f64::from(3e38_f32));
}

#[test]
fn case_10_equal_weights_beyond_the_integers_of_an_f32() {
    let leaves = (1 << 24) + 10;
    let scale = Scale::new(0.1, leaves).unwrap();
    let total = scale.quantize(0.1) * leaves as u64;
    assert_eq!(to_f64(total, scale), f64::from(0.1_f32) * leaves as f64);
}

#[test]
fn case_6_the_first_bad_weight_is_named() {
    let mut isas = vec![Isa::Scalar, Isa::Avx2, Isa::Avx512];
    isas.retain(|isa| isa.is_available());
    for isa in isas {
        for len in [1, 2, 15, 16, 17, 63, 64, 65, 1000] {
            let good: Vec<f32> = (0..len).map(|i| (i * 7 % 11) as f32).collect();
            let top = good.iter().fold(0.0, |a: f32, &b| a.max(b));
            assert_eq!(largest_weight_with(isa, &good), Ok(top));
            for bad in
                [f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -1.0, -1e-45, f32::from_bits(0x7f80_0001)]
            {
                for at in [0, len / 2, len - 1] {
                    let mut weights = good.clone();
                    weights[at] = bad;
                    weights[len - 1] = if at == len - 1 { bad } else { f32::NAN };
                    match largest_weight_with(isa, &weights) {
                        Err(FixedError::InvalidWeight { index, value }) => {
                            assert_eq!((index, value.to_bits()), (at, bad.to_bits()));
                        }
                        other => panic!("{other:?}"),
                    }
                    assert!(!is_weight(bad));
                }
            }
        }
        assert_eq!(largest_weight_with(isa, &[]), Ok(0.0));
        let zeros = largest_weight_with(isa, &[-0.0, -0.0]).unwrap();
        assert_eq!(zeros.to_bits(), 0);
        assert_eq!(largest_weight_with(isa, &[1e-45, -0.0]), Ok(1e-45));
        assert_eq!(largest_weight_with(isa, &[f32::MAX, 1.0]), Ok(f32::MAX));
    }
    let error = largest_weight(&[1.0, -2.0]).unwrap_err();
    assert_eq!(error.to_string(), "weight -2 at position 1 is not finite and >= 0");
}

#[test]
fn a_scale_refuses_what_it_cannot_serve() {
    for bad in [f32::NAN, f32::INFINITY, -1.0] {
        assert!(matches!(Scale::new(bad, 10), Err(FixedError::InvalidLargest { .. })));
    }
    if let Some(leaves) = MAX_LEAVES.checked_add(1) {
        assert_eq!(Scale::new(1.0, leaves), Err(FixedError::TooManyLeaves { leaves, limit: MAX_LEAVES }));
    }
    let scale = Scale::new(3.0, 100).unwrap();
    assert!(scale.fits(3.999_999_8) && scale.fits(0.0) && scale.fits(-0.0));
    assert!(!scale.fits(4.0) && !scale.fits(f32::NAN) && !scale.fits(-1.0) && !scale.fits(f32::INFINITY));
    assert!(Scale::new(f32::MAX, 1).unwrap().fits(f32::MAX));
    let zero = Scale::new(0.0, 10).unwrap();
    assert_eq!(zero.quantize(0.0), 0);
}

#[test]
fn conversions_back_are_correctly_rounded() {
    let stream = Stream::new(6, 0);
    for largest in [1.0, f32::MAX, 1e-37, 1e-40, f32::from_bits(1)] {
        let scale = Scale::new(largest, 1 << 20).unwrap();
        for i in 0..20_000 {
            let word = stream.double_word(i);
            let q = word >> (1 + word % 62);
            // Exact ones, ties of f32 and f64, and what lies beside them.
            for q in [q, q & !0x7ff, q | 1, (q & !0xff_ffff_ffff) | 0x80_0000_0000, (q & !0x7ff) | 0x400] {
                let narrow = to_f32(q, scale);
                if q == 0 {
                    assert_eq!((narrow.to_bits(), to_f64(q, scale).to_bits()), (0, 0));
                    continue;
                }
                // Infinity stands for 2^128, the number that follows the largest.
                let value = |x: f32| if x == f32::INFINITY { 2_f64.powi(128) } else { f64::from(x) };
                let near = [value(narrow.next_down()), value(narrow), value(narrow.next_up())];
                assert!(is_nearest(q, scale.exponent(), near, narrow.to_bits() & 1 == 0), "{q} {narrow:e}");
                let wide = to_f64(q, scale);
                let near = [wide.next_down(), wide, wide.next_up()];
                assert!(is_nearest(q, scale.exponent(), near, wide.to_bits() & 1 == 0), "{q} {wide:e}");
            }
        }
    }
}

/// Whether the middle one of three neighbours is the nearest to q / 2^s, in exact integers; a tie must be even.
fn is_nearest(q: u64, s: i32, near: [f64; 3], even: bool) -> bool {
    // x = m * 2^e
    let parts = |x: f64| -> (i128, i32) {
        let m = i128::from(x.to_bits() & 0xf_ffff_ffff_ffff | 1 << 52);
        let m = if x == 0.0 { 0 } else { m };
        (if x < 0.0 { -m } else { m }, (x.to_bits() >> 52 & 0x7ff) as i32 - 1075)
    };
    // In units of 2^e of the smallest that isn't zero, or of 2^-s if that is less.
    let unit = near.into_iter().filter(|&x| x != 0.0).map(|x| parts(x).1).min().unwrap_or(-s).min(-s);
    let units = |m: i128, e: i32| m.checked_shl((e - unit) as u32).unwrap();
    let exact = units(i128::from(q), -s);
    let [below, here, above] = near.map(|x| {
        let (m, e) = parts(x);
        if m == 0 { exact.abs() } else { (units(m, e) - exact).abs() }
    });
    here < below && here < above || even && here <= below && here <= above
}

#[test]
fn bounded_draws_cover_their_range() {
    assert_eq!(bounded(u64::MAX, 1), 0);
    assert_eq!(bounded(5, 0), 0);
    assert_eq!(bounded(u64::MAX, u64::MAX), u64::MAX - 1);
    assert_eq!(bounded(1 << 63, 10), 5);
    // Each of 17 integers takes the words from ceil(i 2^64 / 17) on.
    for i in 1..17_u128 {
        let first = (i << 64).div_ceil(17) as u64;
        assert_eq!(bounded(first, 17), i as u64);
        assert_eq!(bounded(first - 1, 17), i as u64 - 1);
    }
}
