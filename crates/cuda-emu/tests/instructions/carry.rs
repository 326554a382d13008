//! Extended precision: sums of 128 bits in pieces.

use crate::common::eval::{agrees, pairs};

const PIECES: [u64; 6] = [0, 1, 0xffff_ffff, 0xffff_ffff_ffff_ffff, 0x8000_0000_0000_0000, 0x1234_5678_ffff_0000];

#[test]
fn sums_and_differences_carry() {
    for (op, sum) in [("add", true), ("sub", false)] {
        // The upper pieces are 5 and 3.
        let text = format!("{op}.cc.u64 %wide, %a, %b; {op}c.u64 %d, 5, 3;");
        agrees(&text, "u64", &["u64", "u64"], &pairs(&PIECES), |c| {
            let (a, b) = (5 << 64 | u128::from(c[0]), 3 << 64 | u128::from(c[1]));
            ((if sum { a.wrapping_add(b) } else { a.wrapping_sub(b) }) >> 64) as u64
        });
        let text = format!(
            "{{ .reg .b32 %l, %m, %h; .reg .b32 %y; cvt.u32.u64 %l, %a; cvt.u32.u64 %y, %b; {op}.cc.u32 %l, %l, %y; {op}c.cc.u32 %m, 0, 0; {op}c.u32 %h, 0, 0; mov.b64 %d, {{%m, %h}}; }}"
        );
        agrees(&text, "u64", &["u64", "u64"], &pairs(&PIECES), |c| {
            let (a, b) = (u128::from(c[0] as u32), u128::from(c[1] as u32));
            ((if sum { a.wrapping_add(b) } else { a.wrapping_sub(b) }) >> 32) as u64
        });
    }
}

#[test]
fn products_carry() {
    let text = "mad.lo.cc.u64 %wide, %a, %b, %a; madc.hi.u64 %d, %a, %b, 7;";
    agrees(text, "u64", &["u64", "u64"], &pairs(&PIECES), |c| {
        let exact = (u128::from(c[0]) * u128::from(c[1])).wrapping_add(u128::from(c[0])).wrapping_add(7 << 64);
        (exact >> 64) as u64
    });
}

/// A subtraction's carry is set when nothing was borrowed, as `addc` shows.
#[test]
fn a_borrow_is_the_absence_of_a_carry() {
    for bits in [32_u32, 64] {
        let ty = format!("u{bits}");
        let text = format!("sub.cc.{ty} %d, %a, %b; addc.{ty} %d, 0, 0;");
        agrees(&text, &ty, &[&ty, &ty], &pairs(&PIECES), |c| {
            let mask = u64::MAX >> (64 - bits);
            u64::from(c[0] & mask >= c[1] & mask)
        });
        let text = format!("add.cc.{ty} %d, %a, %b; subc.{ty} %d, 0, 0;");
        agrees(&text, &ty, &[&ty, &ty], &pairs(&PIECES), |c| {
            let mask = u64::MAX >> (64 - bits);
            let carry = u128::from(c[0] & mask) + u128::from(c[1] & mask) > u128::from(mask);
            if carry { 0 } else { mask }
        });
    }
}
