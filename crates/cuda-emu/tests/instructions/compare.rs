//! Comparisons, with NaN on either side.

use crate::common::eval::{agrees, eval, pairs, table};

#[test]
fn integers_by_sign() {
    let values = [0_u64, 1, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff];
    for (op, f) in [
        ("eq", (|a, b| a == b) as fn(i64, i64) -> bool),
        ("ne", |a, b| a != b),
        ("lt", |a, b| a < b),
        ("le", |a, b| a <= b),
        ("gt", |a, b| a > b),
        ("ge", |a, b| a >= b),
    ] {
        agrees(&format!("setp.{op}.s32 %d, %a, %b;"), "pred", &["s32", "s32"], &pairs(&values), |c| {
            f(i64::from(c[0] as u32 as i32), i64::from(c[1] as u32 as i32)).into()
        });
        agrees(&format!("setp.{op}.u32 %d, %a, %b;"), "pred", &["u32", "u32"], &pairs(&values), |c| {
            f(c[0] as i64, c[1] as i64).into()
        });
    }
    for (op, same) in [("lo", "lt"), ("ls", "le"), ("hi", "gt"), ("hs", "ge")] {
        let cases = pairs(&values);
        let borrowed: Vec<&[u64]> = cases.iter().map(Vec::as_slice).collect();
        assert_eq!(
            eval(&format!("setp.{op}.u32 %d, %a, %b;"), "pred", &["u32", "u32"], &borrowed),
            eval(&format!("setp.{same}.u32 %d, %a, %b;"), "pred", &["u32", "u32"], &borrowed)
        );
    }
}

#[test]
fn floats_ordered_and_unordered() {
    let values = [0.0_f32, -0.0, 1.0, -1.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 1e-40];
    let bits = values.map(|v| u64::from(v.to_bits()));
    for (op, order) in [
        ("eq", (|o| o == Some(0)) as fn(Option<i32>) -> bool),
        ("ne", |o| matches!(o, Some(-1 | 1))),
        ("lt", |o| o == Some(-1)),
        ("le", |o| matches!(o, Some(-1 | 0))),
        ("gt", |o| o == Some(1)),
        ("ge", |o| matches!(o, Some(0 | 1))),
        ("equ", |o| matches!(o, None | Some(0))),
        ("neu", |o| o != Some(0)),
        ("ltu", |o| matches!(o, None | Some(-1))),
        ("leu", |o| o != Some(1)),
        ("gtu", |o| matches!(o, None | Some(1))),
        ("geu", |o| o != Some(-1)),
        ("num", |o| o.is_some()),
        ("nan", |o| o.is_none()),
    ] {
        let compare = |a: u64, b: u64| {
            f32::from_bits(a as u32).partial_cmp(&f32::from_bits(b as u32)).map(|ordering| ordering as i32)
        };
        let cases = pairs(&bits);
        agrees(&format!("setp.{op}.f32 %d, %a, %b;"), "pred", &["f32", "f32"], &cases, |c| {
            order(compare(c[0], c[1])).into()
        });
        let flush = |x: u64| if x & 0x7f80_0000 == 0 { x & 0x8000_0000 } else { x };
        agrees(&format!("setp.{op}.ftz.f32 %d, %a, %b;"), "pred", &["f32", "f32"], &cases, |c| {
            order(compare(flush(c[0]), flush(c[1]))).into()
        });
    }
}

#[test]
fn outcomes_joined_with_a_predicate() {
    for (join, f) in [("and", (|r, c| r & c) as fn(u64, u64) -> u64), ("or", |r, c| r | c), ("xor", |r, c| r ^ c)] {
        let cases = [[1_u64, 2, 0], [1, 2, 1], [2, 1, 0], [2, 1, 1]].map(|c| c.to_vec());
        for not in ["", "!"] {
            let given = |c: u64| if not == "!" { 1 - c } else { c };
            let text = format!("setp.lt.{join}.u32 %d|%q, %a, %b, {not}%c;");
            agrees(&text, "pred", &["u32", "u32", "pred"], &cases, |c| f(u64::from(c[0] < c[1]), given(c[2])));
            let text = format!("setp.lt.{join}.u32 %q|%d, %a, %b, {not}%c;");
            agrees(&text, "pred", &["u32", "u32", "pred"], &cases, |c| f(u64::from(c[0] >= c[1]), given(c[2])));
        }
    }
}

#[test]
fn values_by_comparison() {
    table("set.lt.u32.s32 %d, %a, %b;", "u32", &["s32", "s32"], &[&[0xffff_ffff, 0, 0xffff_ffff], &[0, 0, 0]]);
    table("set.gt.f32.u32 %d, %a, %b;", "f32", &["u32", "u32"], &[&[0xffff_ffff, 0, 0x3f80_0000], &[0, 0, 0]]);
    table("slct.u32.s32 %d, %a, %b, %c;", "u32", &["u32", "u32", "s32"], &[&[7, 9, 0, 7], &[7, 9, 0x8000_0000, 9]]);
    // -0 isn't negative, NaN isn't positive, and a negative subnormal is zero with `ftz`.
    let rows: [&[u64]; 3] = [&[7, 9, 0x8000_0000, 7], &[7, 9, 0x7fc0_0000, 9], &[7, 9, 0x8000_0001, 9]];
    table("slct.u64.f32 %d, %a, %b, %c;", "u64", &["u64", "u64", "f32"], &rows);
    table("slct.ftz.u64.f32 %d, %a, %b, %c;", "u64", &["u64", "u64", "f32"], &[&[7, 9, 0x8000_0001, 7]]);
    table("selp.b64 %d, %a, %b, %c;", "b64", &["b64", "b64", "pred"], &[&[1, 2, 1, 1], &[1, 2, 0, 2]]);
}
