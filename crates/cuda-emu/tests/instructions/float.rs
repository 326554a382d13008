//! `f32` and `f64`. To nearest, against the host's instructions. Directed roundings are checked by what they mean: the
//! result is the last number on its side of the exact value, which is compared in arithmetic that is exact for it.

use crate::common::eval::{agrees, eval, next, pairs, table, triples};

const NAN: u64 = 0x7fff_ffff;

fn edges() -> Vec<u64> {
    [
        0.0_f32,
        -0.0,
        1.0,
        -1.0,
        1.5,
        f32::MAX,
        f32::MIN,
        f32::MIN_POSITIVE,
        1e-45,
        -1e-45,
        1e-39,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
        16_777_216.0,
        3.0,
        0.1,
    ]
    .map(|v| u64::from(v.to_bits()))
    .to_vec()
}

fn single(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

fn canonical(value: f32) -> u64 {
    if value.is_nan() { NAN } else { value.to_bits().into() }
}

fn flushed(value: f32) -> f32 {
    if value.is_subnormal() { 0.0_f32.copysign(value) } else { value }
}

#[test]
fn to_nearest_as_the_host_rounds() {
    let cases = pairs(&edges());
    for (op, f) in [
        ("add", (|a, b| a + b) as fn(f32, f32) -> f32),
        ("sub", |a, b| a - b),
        ("mul", |a, b| a * b),
        ("div.rn", |a, b| a / b),
    ] {
        agrees(&format!("{op}.f32 %d, %a, %b;"), "f32", &["f32", "f32"], &cases, |c| {
            canonical(f(single(c[0]), single(c[1])))
        });
        agrees(&format!("{op}.ftz.f32 %d, %a, %b;"), "f32", &["f32", "f32"], &cases, |c| {
            canonical(flushed(f(flushed(single(c[0])), flushed(single(c[1])))))
        });
        if op != "div.rn" {
            agrees(&format!("{op}.rn.sat.f32 %d, %a, %b;"), "f32", &["f32", "f32"], &cases, |c| {
                let value = f(single(c[0]), single(c[1]));
                // Not `clamp`: NaN and -0 become +0.
                if value > 0.0 { canonical(value.min(1.0)) } else { 0 }
            });
        }
    }
    agrees("fma.rn.f32 %d, %a, %b, %c;", "f32", &["f32"; 3], &triples(&edges()), |c| {
        canonical(single(c[0]).mul_add(single(c[1]), single(c[2])))
    });
    agrees("sqrt.rn.f32 %d, %a;", "f32", &["f32"], &cases, |c| canonical(single(c[0]).sqrt()));
    agrees("rcp.rn.f32 %d, %a;", "f32", &["f32"], &cases, |c| canonical(1.0 / single(c[0])));
}

/// Whether `d` is the exact value rounded in `mode`; `side` compares a number with the exact value.
fn is_rounded(mode: &str, d: f32, negative: bool, side: impl Fn(f32) -> std::cmp::Ordering) -> bool {
    use std::cmp::Ordering::{Greater, Less};
    let down = |d: f32| side(d) != Greater && side(d.next_up()) == Greater;
    let up = |d: f32| side(d) != Less && side(d.next_down()) == Less;
    match mode {
        "rm" => down(d),
        "rp" => up(d),
        _ if negative => up(d),
        _ => down(d),
    }
}

#[test]
fn directed_roundings_of_singles() {
    let mut state = 1;
    // Exponents near each other, so that sums and products of 24 bits are exact in 53.
    let mut draw = move || {
        let bits = next(&mut state);
        let exponent = 120 + (bits >> 40) % 12;
        (bits & 0x807f_ffff) | exponent << 23
    };
    let cases: Vec<Vec<u64>> = (0..512).map(|_| vec![draw(), draw()]).collect();
    let borrowed: Vec<&[u64]> = cases.iter().map(Vec::as_slice).collect();
    for mode in ["rz", "rm", "rp"] {
        for (op, exact) in
            [("add", (|a, b| a + b) as fn(f64, f64) -> f64), ("sub", |a, b| a - b), ("mul", |a, b| a * b)]
        {
            for (c, d) in
                cases.iter().zip(eval(&format!("{op}.{mode}.f32 %d, %a, %b;"), "f32", &["f32", "f32"], &borrowed))
            {
                let exact = exact(single(c[0]).into(), single(c[1]).into());
                let good = is_rounded(mode, single(d), exact < 0.0, |x| f64::from(x).total_cmp(&exact));
                assert!(exact == 0.0 || good, "{op}.{mode} {c:x?} {d:x}");
            }
        }
        for (c, d) in cases.iter().zip(eval(&format!("div.{mode}.f32 %d, %a, %b;"), "f32", &["f32", "f32"], &borrowed))
        {
            let (a, b) = (f64::from(single(c[0])), f64::from(single(c[1])));
            // x against a / b is x |b| against a sign(b).
            let (numerator, denominator) = (a * b.signum(), b.abs());
            let good =
                is_rounded(mode, single(d), numerator < 0.0, |x| (f64::from(x) * denominator).total_cmp(&numerator));
            assert!(good, "div.{mode} {c:x?} {d:x}");
        }
        for (c, d) in cases.iter().zip(eval(
            &format!("{{ abs.f32 %a, %a; sqrt.{mode}.f32 %d, %a; }}"),
            "f32",
            &["f32"],
            &borrowed,
        )) {
            let a = f64::from(single(c[0])).abs();
            let good = is_rounded(mode, single(d), false, |x| (f64::from(x) * f64::from(x)).total_cmp(&a));
            assert!(good, "sqrt.{mode} {c:x?} {d:x}");
        }
    }
}

#[test]
fn directed_roundings_of_doubles() {
    let mut state = 2;
    let mut draw = move || {
        let bits = next(&mut state);
        (bits & 0x800f_ffff_ffff_ffff) | (1013 + bits % 20) << 52
    };
    let cases: Vec<Vec<u64>> = (0..512).map(|_| vec![draw(), draw(), draw()]).collect();
    let borrowed: Vec<&[u64]> = cases.iter().map(Vec::as_slice).collect();
    for mode in ["rz", "rm", "rp"] {
        for (text, op) in [("mul", 0), ("div", 1), ("add", 2)] {
            for (c, d) in
                cases.iter().zip(eval(&format!("{text}.{mode}.f64 %d, %a, %b;"), "f64", &["f64", "f64"], &borrowed))
            {
                let [a, b, d] = [c[0], c[1], d].map(f64::from_bits);
                // Sign of x minus the exact value, from a remainder that `fma` gives exactly.
                let side = |x: f64| match op {
                    0 => -a.mul_add(b, -x),
                    1 => x.mul_add(b, -a) * b.signum(),
                    _ => {
                        // a + b = s + e exactly (Knuth).
                        let s = a + b;
                        let t = s - a;
                        let e = (a - (s - t)) + (b - t);
                        (x - s) - e
                    }
                };
                let negative = side(0.0) > 0.0;
                let (down, up) =
                    (side(d) <= 0.0 && side(d.next_up()) > 0.0, side(d) >= 0.0 && side(d.next_down()) < 0.0);
                let good = match mode {
                    "rm" => down,
                    "rp" => up,
                    _ if negative => up,
                    _ => down,
                };
                assert!(good, "{text}.{mode} {c:x?} {d:e}");
            }
        }
    }
}

#[test]
fn directed_roundings_at_the_edges() {
    let max = u64::from(f32::MAX.to_bits());
    let infinity = 0x7f80_0000;
    for (mode, positive, negative) in
        [("rz", max, max | 1 << 31), ("rm", max, infinity | 1 << 31), ("rp", infinity, max | 1 << 31)]
    {
        table(
            &format!("add.{mode}.f32 %d, %a, %b;"),
            "f32",
            &["f32", "f32"],
            &[&[max, max, positive], &[max | 1 << 31, max | 1 << 31, negative]],
        );
        // 2^-149 squared lies between zero and the smallest number.
        let (up, down) = match mode {
            "rp" => (1, 1 << 31),
            "rm" => (0, 1 << 31 | 1),
            _ => (0, 1 << 31),
        };
        table(
            &format!("mul.{mode}.f32 %d, %a, %b;"),
            "f32",
            &["f32", "f32"],
            &[&[1, 1, up], &[1 << 31 | 1, 1, down], &[infinity, 0, NAN]],
        );
        // x - x is +0, or -0 when rounding down.
        table(
            &format!("sub.{mode}.f32 %d, %a, %b;"),
            "f32",
            &["f32", "f32"],
            &[&[1, 1, if mode == "rm" { 1 << 31 } else { 0 }]],
        );
        // 1 + 2^-60: the sticky bit alone decides.
        let one = 1.0_f64.to_bits();
        let tiny = 2.0_f64.powi(-600).to_bits();
        table(
            &format!("fma.{mode}.f64 %d, %a, %b, %c;"),
            "f64",
            &["f64"; 3],
            &[&[tiny, tiny, one, if mode == "rp" { one + 1 } else { one }]],
        );
    }
}

#[test]
fn extremes_and_their_nans() {
    let least = |a: f32, b: f32| match (a.is_nan(), b.is_nan()) {
        (true, _) => b,
        (_, true) => a,
        // `total_cmp` puts -0 below +0.
        _ => {
            if a.total_cmp(&b).is_le() {
                a
            } else {
                b
            }
        }
    };
    let greatest = |a: f32, b: f32| -least(-a, -b);
    let cases = pairs(&edges());
    let two = ["f32", "f32"];
    agrees("min.f32 %d, %a, %b;", "f32", &two, &cases, |c| canonical(least(single(c[0]), single(c[1]))));
    agrees("max.f32 %d, %a, %b;", "f32", &two, &cases, |c| canonical(greatest(single(c[0]), single(c[1]))));
    agrees("max.NaN.f32 %d, %a, %b;", "f32", &two, &cases, |c| {
        let (a, b) = (single(c[0]), single(c[1]));
        if a.is_nan() || b.is_nan() { NAN } else { canonical(greatest(a, b)) }
    });
    agrees("min.ftz.f32 %d, %a, %b;", "f32", &two, &cases, |c| {
        canonical(least(flushed(single(c[0])), flushed(single(c[1]))))
    });
    agrees("min.xorsign.abs.f32 %d, %a, %b;", "f32", &two, &cases, |c| {
        let (a, b) = (single(c[0]), single(c[1]));
        let d = least(a.abs(), b.abs());
        if d.is_nan() {
            NAN
        } else {
            canonical(d.copysign(if a.is_sign_negative() == b.is_sign_negative() { 1.0 } else { -1.0 }))
        }
    });
    let zero = 1_u64 << 63;
    let nan = f64::NAN.to_bits();
    let one = 1.0_f64.to_bits();
    table(
        "min.f64 %d, %a, %b;",
        "f64",
        &["f64"; 2],
        &[&[0, zero, zero], &[zero, 0, zero], &[nan, one, one], &[one, nan, one]],
    );
    table(
        "max.f64 %d, %a, %b;",
        "f64",
        &["f64"; 2],
        &[&[0, zero, 0], &[zero, 0, 0], &[nan, one, one], &[one, nan, one]],
    );
}

#[test]
fn signs_and_tests() {
    let each: Vec<Vec<u64>> = edges().into_iter().map(|e| vec![e]).collect();
    agrees("neg.f32 %d, %a;", "f32", &["f32"], &each, |c| c[0] ^ 1 << 31);
    agrees("abs.f32 %d, %a;", "f32", &["f32"], &each, |c| c[0] & 0x7fff_ffff);
    agrees("copysign.f32 %d, %a, %b;", "f32", &["f32", "f32"], &pairs(&edges()), |c| {
        c[0] & 1 << 31 | c[1] & 0x7fff_ffff
    });
    for (test, f) in [
        ("finite", (|v| v.is_finite()) as fn(f32) -> bool),
        ("infinite", |v| v.is_infinite()),
        ("number", |v| !v.is_nan()),
        ("notanumber", |v| v.is_nan()),
        ("normal", |v| v.is_normal()),
        ("subnormal", |v| v.is_subnormal()),
    ] {
        agrees(&format!("testp.{test}.f32 %d, %a;"), "pred", &["f32"], &each, |c| f(single(c[0])).into());
    }
}

/// Largest error against `f64` in units of the last place of the result, over normal results; infinite when a result
/// is no number.
fn error(instruction: &str, inputs: impl Iterator<Item = f32>, f: fn(f64) -> f64) -> f64 {
    let cases: Vec<Vec<u64>> = inputs.map(|v| vec![v.to_bits().into()]).collect();
    let borrowed: Vec<&[u64]> = cases.iter().map(Vec::as_slice).collect();
    let got = eval(instruction, "f32", &["f32"], &borrowed);
    let errors = cases.iter().zip(got).map(|(c, d)| {
        let exact = f(single(c[0]).into());
        let ulp = f64::from((exact as f32).next_up()) - f64::from(exact as f32);
        let error = ((f64::from(single(d)) - exact) / ulp).abs();
        // `max` would pass over NaN.
        if error.is_nan() { f64::INFINITY } else { error }
    });
    errors.fold(0.0, f64::max)
}

#[test]
fn approximations_stay_inside_the_stated_errors() {
    let range = |from: f32, to: f32| (0..400).map(move |i| from + (to - from) * i as f32 / 400.0);
    // The ISA allows at least 1 unit for each of these. The emulator promises more: one rounding of the value in
    // `f64`, half a unit, and the error of that value, whose unit is 2^-29 of this one; 2^-20 leaves room for 512.
    let most = 0.5 + 2.0_f64.powi(-20);
    assert!(error("rcp.approx.f32 %d, %a;", range(0.001, 900.0), |x| 1.0 / x) <= most);
    assert!(error("sqrt.approx.f32 %d, %a;", range(0.001, 900.0), f64::sqrt) <= most);
    assert!(error("rsqrt.approx.f32 %d, %a;", range(0.001, 900.0), |x| 1.0 / x.sqrt()) <= most);
    assert!(error("ex2.approx.f32 %d, %a;", range(-20.0, 20.0), f64::exp2) <= most);
    assert!(error("lg2.approx.f32 %d, %a;", range(2.5, 900.0), f64::log2) <= most);
    assert!(error("sin.approx.f32 %d, %a;", range(0.1, 3.0), f64::sin) <= most);
    assert!(error("cos.approx.f32 %d, %a;", range(-1.5, 1.5), f64::cos) <= most);
    assert!(error("tanh.approx.f32 %d, %a;", range(-5.0, 5.0), f64::tanh) <= most);
    let infinity = 0x7f80_0000;
    let (minus_infinity, minus_zero) = (0xff80_0000, 0x8000_0000);
    table(
        "rcp.approx.ftz.f32 %d, %a;",
        "f32",
        &["f32"],
        &[&[0, infinity], &[minus_zero, minus_infinity], &[1, infinity], &[infinity, 0]],
    );
    table(
        "rsqrt.approx.f32 %d, %a;",
        "f32",
        &["f32"],
        &[&[0, infinity], &[minus_zero, minus_infinity], &[0xbf80_0000, NAN], &[infinity, 0]],
    );
    table(
        "lg2.approx.f32 %d, %a;",
        "f32",
        &["f32"],
        &[&[0, minus_infinity], &[infinity, infinity], &[0xbf80_0000, NAN]],
    );
    table(
        "ex2.approx.f32 %d, %a;",
        "f32",
        &["f32"],
        &[&[minus_infinity, 0], &[infinity, infinity], &[minus_zero, 0x3f80_0000]],
    );
    table("sin.approx.f32 %d, %a;", "f32", &["f32"], &[&[0, 0], &[minus_zero, minus_zero], &[infinity, NAN]]);
    // Only the upper half of the bits.
    table("rcp.approx.ftz.f64 %d, %a;", "f64", &["f64"], &[&[3.0_f64.to_bits(), 0x3fd5_5555_0000_0000]]);
}
