//! Bits and bytes, by the ISA's loops.

use crate::common::eval::{agrees, pairs, table, triples};

#[test]
fn counts_and_reversals() {
    let values = [0_u64, 1, 0x8000_0000, 0xffff_ffff, 0x8000_0000_0000_0000, u64::MAX, 0x00f0_1234_0000_8001];
    let each: Vec<Vec<u64>> = values.iter().map(|&v| vec![v]).collect();
    for bits in [32_u32, 64] {
        let bit = move |x: u64, i: u32| x >> i & 1;
        let ty = format!("b{bits}");
        agrees(&format!("popc.{ty} %d, %a;"), "u32", &[&ty], &each, |c| (0..bits).map(|i| bit(c[0], i)).sum());
        agrees(&format!("clz.{ty} %d, %a;"), "u32", &[&ty], &each, |c| {
            (0..bits).rev().take_while(|&i| bit(c[0], i) == 0).count() as u64
        });
        agrees(&format!("brev.{ty} %d, %a;"), &ty, &[&ty], &each, |c| {
            (0..bits).map(|i| bit(c[0], i) << (bits - 1 - i)).sum()
        });
        for signed in [false, true] {
            let find = |x: u64| {
                let sign = signed && bit(x, bits - 1) == 1;
                (0..bits).rev().find(|&i| (bit(x, i) == 1) != sign)
            };
            let letter = if signed { 's' } else { 'u' };
            agrees(&format!("bfind.{letter}{bits} %d, %a;"), "u32", &[&ty], &each, |c| {
                find(c[0]).map_or(0xffff_ffff, u64::from)
            });
            agrees(&format!("bfind.shiftamt.{letter}{bits} %d, %a;"), "u32", &[&ty], &each, |c| {
                find(c[0]).map_or(0xffff_ffff, |i| u64::from(bits - 1 - i))
            });
        }
    }
}

#[test]
fn shifts_clamp_their_amount() {
    let amounts = [0_u64, 1, 15, 16, 31, 32, 33, 63, 64, 255, 0xffff_ffff];
    let values = [0x8000_0000_8000_8000_u64, 0x7fff_ffff_7fff_7fff, u64::MAX, 1];
    let cases: Vec<Vec<u64>> = values.iter().flat_map(|&v| amounts.iter().map(move |&n| vec![v, n])).collect();
    for bits in [16_u32, 32, 64] {
        let mask = u64::MAX >> (64 - bits);
        let steps = |n: u64| n.min(u64::from(bits));
        let ty = format!("b{bits}");
        agrees(&format!("shl.{ty} %d, %a, %b;"), &ty, &[&ty, "u32"], &cases, |c| {
            (0..steps(c[1])).fold(c[0], |x, _| x.wrapping_mul(2)) & mask
        });
        agrees(&format!("shr.u{bits} %d, %a, %b;"), &ty, &[&ty, "u32"], &cases, |c| {
            (0..steps(c[1])).fold(c[0] & mask, |x, _| x / 2)
        });
        agrees(&format!("shr.s{bits} %d, %a, %b;"), &ty, &[&ty, "u32"], &cases, |c| {
            let top = c[0] & (1 << (bits - 1));
            (0..steps(c[1])).fold(c[0] & mask, |x, _| (x / 2) | top)
        });
    }
}

#[test]
fn fields_are_extracted_and_inserted() {
    let fields = [0_u64, 1, 4, 8, 31, 32, 33, 63, 64, 255, 256, 0x104];
    let values = [0x8765_4321_9abc_def0_u64, u64::MAX, 0x0000_0000_8000_0000];
    let cases: Vec<Vec<u64>> =
        values.iter().flat_map(|&v| pairs(&fields).into_iter().map(move |f| vec![v, f[0], f[1]])).collect();
    for bits in [32_u64, 64] {
        for signed in [false, true] {
            let ty = format!("{}{bits}", if signed { 's' } else { 'u' });
            agrees(&format!("bfe.{ty} %d, %a, %b, %c;"), &ty, &[&ty, "u32", "u32"], &cases, |c| {
                let (a, position, length) = (c[0], c[1] & 0xff, c[2] & 0xff);
                let sign = if !signed || length == 0 { 0 } else { a >> (position + length - 1).min(bits - 1) & 1 };
                (0..bits)
                    .map(|i| {
                        let inside = i < length && position + i < bits;
                        (if inside { a >> (position + i) & 1 } else { sign }) << i
                    })
                    .sum()
            });
        }
        let ty = format!("b{bits}");
        let four: Vec<Vec<u64>> = cases.iter().map(|c| vec![c[0], !c[0] ^ 0x5555, c[1], c[2]]).collect();
        agrees(&format!("bfi.{ty} %d, %a, %b, %c, %x;"), &ty, &[&ty, &ty, "u32", "u32"], &four, |c| {
            let (position, length) = (c[2] & 0xff, c[3] & 0xff);
            let mut f = c[1];
            for i in (0..length).take_while(|i| position + i < bits) {
                f = f & !(1 << (position + i)) | (c[0] >> i & 1) << (position + i);
            }
            if bits == 32 { f & 0xffff_ffff } else { f }
        });
    }
}

#[test]
fn permutations_of_bytes() {
    let (a, b) = (0x0382_81f0_u64, 0x7f06_0584_u64);
    let byte = |n: u64| [0xf0_u64, 0x81, 0x82, 0x03, 0x84, 0x05, 0x06, 0x7f][n as usize];
    let cases: Vec<Vec<u64>> = [0x3210, 0x7654, 0x0000, 0xffff, 0xba98, 0x1f3d, 0x4567].map(|c| vec![a, b, c]).to_vec();
    agrees("prmt.b32 %d, %a, %b, %c;", "b32", &["b32"; 3], &cases, |c| {
        (0..4)
            .map(|i| {
                let n = c[2] >> (4 * i) & 15;
                let value = byte(n & 7);
                let value = if n & 8 == 0 {
                    value
                } else if value & 0x80 == 0 {
                    0
                } else {
                    0xff
                };
                value << (8 * i)
            })
            .sum()
    });
    // Rows of the ISA's table of modes, bytes from the highest down.
    let modes: [(&str, [[u64; 4]; 4]); 6] = [
        ("f4e", [[3, 2, 1, 0], [4, 3, 2, 1], [5, 4, 3, 2], [6, 5, 4, 3]]),
        ("b4e", [[5, 6, 7, 0], [6, 7, 0, 1], [7, 0, 1, 2], [0, 1, 2, 3]]),
        ("rc8", [[0; 4], [1; 4], [2; 4], [3; 4]]),
        ("ecl", [[3, 2, 1, 0], [3, 2, 1, 1], [3, 2, 2, 2], [3, 3, 3, 3]]),
        ("ecr", [[0, 0, 0, 0], [1, 1, 1, 0], [2, 2, 1, 0], [3, 2, 1, 0]]),
        ("rc16", [[1, 0, 1, 0], [3, 2, 3, 2], [1, 0, 1, 0], [3, 2, 3, 2]]),
    ];
    for (mode, rows) in modes {
        let cases: Vec<Vec<u64>> = (0..8).map(|c| vec![a, b, c]).collect();
        agrees(&format!("prmt.b32.{mode} %d, %a, %b, %c;"), "b32", &["b32"; 3], &cases, |c| {
            rows[(c[2] & 3) as usize].iter().fold(0, |d, &n| d << 8 | byte(n))
        });
    }
}

#[test]
fn all_tables_of_three_inputs() {
    let (a, b, c) = (0xf0f0_cafe_u64, 0xcccc_1234, 0xaaaa_5678);
    for table in 0..=255_u64 {
        agrees(&format!("lop3.b32 %d, %a, %b, %c, {table};"), "b32", &["b32"; 3], &[vec![a, b, c]], |_| {
            (0..32)
                .map(|i| {
                    let row = (a >> i & 1) * 4 + (b >> i & 1) * 2 + (c >> i & 1);
                    (table >> row & 1) << i
                })
                .sum()
        });
    }
}

#[test]
fn funnels() {
    let amounts = [0_u64, 1, 31, 32, 33, 64, 0xffff_ffff];
    let cases: Vec<Vec<u64>> = amounts.iter().map(|&n| vec![0x8000_0001, 0x1234_5678, n]).collect();
    for left in [true, false] {
        for clamp in [true, false] {
            let text = format!(
                "shf.{}.{}.b32 %d, %a, %b, %c;",
                if left { 'l' } else { 'r' },
                if clamp { "clamp" } else { "wrap" }
            );
            agrees(&text, "b32", &["b32"; 3], &cases, |c| {
                let n = if clamp { c[2].min(32) } else { c[2] % 32 };
                let pair = u128::from(c[1]) << 32 | u128::from(c[0]);
                let shifted = if left { pair << n >> 32 } else { pair >> n };
                (shifted & 0xffff_ffff) as u64
            });
        }
    }
}

#[test]
fn logic_of_bits() {
    let values = [0_u64, 1, 0xff00_ff00_ff00_ff00, u64::MAX, 0x0123_4567_89ab_cdef];
    for bits in [16_u32, 32, 64] {
        let mask = u64::MAX >> (64 - bits);
        let ty = format!("b{bits}");
        let two: [&str; 2] = [&ty, &ty];
        agrees(&format!("and.{ty} %d, %a, %b;"), &ty, &two, &pairs(&values), |c| c[0] & c[1] & mask);
        agrees(&format!("or.{ty} %d, %a, %b;"), &ty, &two, &pairs(&values), |c| (c[0] | c[1]) & mask);
        agrees(&format!("xor.{ty} %d, %a, %b;"), &ty, &two, &pairs(&values), |c| (c[0] ^ c[1]) & mask);
        agrees(&format!("not.{ty} %d, %a;"), &ty, &[&ty], &pairs(&values), |c| !c[0] & mask);
        agrees(&format!("cnot.{ty} %d, %a;"), &ty, &[&ty], &pairs(&values), |c| u64::from(c[0] & mask == 0));
    }
    let truth = triples(&[0, 1]);
    agrees("and.pred %d, %a, %b;", "pred", &["pred", "pred"], &truth, |c| c[0] & c[1]);
    agrees("or.pred %d, %a, %b;", "pred", &["pred", "pred"], &truth, |c| c[0] | c[1]);
    agrees("xor.pred %d, %a, %b;", "pred", &["pred", "pred"], &truth, |c| c[0] ^ c[1]);
    agrees("not.pred %d, %a;", "pred", &["pred"], &truth, |c| 1 - c[0]);
}

#[test]
fn masks_extensions_and_set_bits() {
    table(
        "bmsk.clamp.b32 %d, %a, %b;",
        "b32",
        &["b32", "u32"],
        &[&[4, 8, 0xff0], &[28, 8, 0xf000_0000], &[32, 4, 0], &[0, 32, 0xffff_ffff]],
    );
    table("bmsk.wrap.b32 %d, %a, %b;", "b32", &["b32", "u32"], &[&[36, 40, 0xff0], &[0, 32, 0]]);
    table(
        "szext.clamp.s32 %d, %a, %b;",
        "s32",
        &["s32", "u32"],
        &[&[0x80, 8, 0xffff_ff80], &[0x80, 9, 0x80], &[5, 0, 0], &[0x8000_0000, 40, 0x8000_0000]],
    );
    table("szext.wrap.u32 %d, %a, %b;", "u32", &["u32", "u32"], &[&[0xfff, 8, 0xff], &[0xfff, 32, 0]]);
    table(
        "fns.b32 %d, %a, %b, %c;",
        "b32",
        &["b32", "u32", "s32"],
        &[
            &[0b1010_1000, 0, 1, 3],
            &[0b1010_1000, 0, 2, 5],
            &[0b1010_1000, 7, 0xffff_fffe, 5],
            &[0b1010_1000, 4, 0, 0xffff_ffff],
            &[0b1010_1000, 5, 0, 5],
            &[0b1010_1000, 0, 4, 0xffff_ffff],
        ],
    );
}
