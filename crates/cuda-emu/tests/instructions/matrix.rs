//! Products of matrices in each shape and type, by the ISA's figures of the fragments.

use crate::common::{Arg, Bench};
use cuda_emu::Grid;

/// Number `i` of a fragment's registers in a lane, and the place of element `part` in it: the formulas of the figures, in
/// terms of the number of the element in the fragment.
fn place(role: char, rows: usize, per: usize, lane: usize, element: usize) -> (usize, usize) {
    let (group, member) = (lane >> 2, lane & 3);
    match role {
        'a' => {
            let row = if rows == 16 && element / per % 2 == 1 { group + 8 } else { group };
            let block = element / (per * rows / 8);
            (row, member * per + element % per + block * 4 * per)
        }
        'b' => (member * per + element % per + element / per * 4 * per, group),
        _ => (if element < 2 { group } else { group + 8 }, member * 2 + element % 2),
    }
}

/// Runs `mma` on matrices of integers, encoded by type, and gives `d` as it lies in memory.
fn product(name: &str, [m, n, k]: [usize; 3], types: [&str; 3], values: [&dyn Fn(usize, usize) -> i64; 3]) -> Vec<f64> {
    let [input, other, sums] = types;
    let bits = |ty: &str| match ty {
        "f64" => 64,
        "f16" | "bf16" => 16,
        "s8" | "u8" => 8,
        _ => 32,
    };
    let per = |ty: &str| (32 / bits(ty)).max(1) as usize;
    let fragments = [('a', m, k, input), ('b', k, n, other), ('c', m, n, sums)];
    let mut words: Vec<u64> = Vec::new();
    let mut counts = Vec::new();
    for (i, &(role, rows, columns, ty)) in fragments.iter().enumerate() {
        let count = rows * columns / 32 / per(ty);
        counts.push(count);
        for register in 0..count {
            for lane in 0..32 {
                words.push((0..per(ty)).fold(0, |word, part| {
                    let (row, column) = place(role, rows, per(ty), lane, register * per(ty) + part);
                    word | encode(ty, values[i](row, column)) << (part as u32 * bits(ty))
                }));
            }
        }
    }
    let class = |ty: &str| if ty == "f64" { "b64" } else { "b32" };
    let list = |letter: char, count: usize| {
        format!("{{{}}}", (0..count).map(|i| format!("%{letter}{i}")).collect::<Vec<_>>().join(", "))
    };
    let mut text = format!(
        ".visible .entry k(.param .u64 in, .param .u64 out) {{ .reg .b32 %t; .reg .b64 %rd<4>; .reg .{} %a<9>; .reg .{} %b<9>; .reg .{} %c<9>; .reg .{} %d<9>;
ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; mov.u32 %t, %tid.x; mul.wide.u32 %rd3, %t, 8; add.u64 %rd1, %rd1, %rd3; add.u64 %rd2, %rd2, %rd3;\n",
        class(input), class(other), class(sums), class(sums),
    );
    let mut at = 0;
    for (&(role, _, _, ty), &count) in fragments.iter().zip(&counts) {
        for i in 0..count {
            text += &format!("ld.global.{} %{role}{i}, [%rd1+{}];\n", class(ty), 256 * at);
            at += 1;
        }
    }
    text += &format!(
        "{name} {}, {}, {}, {};\n",
        list('d', counts[2]),
        list('a', counts[0]),
        list('b', counts[1]),
        list('c', counts[2])
    );
    for i in 0..counts[2] {
        text += &format!("st.global.{} [%rd2+{}], %d{i};\n", class(sums), 256 * i);
    }
    let bench = Bench::new(&(text + "ret; }"));
    let (pin, pout) = (bench.buffer(&words), bench.buffer(&vec![0_u64; 32 * counts[2]]));
    bench.run("k", &Grid::linear(1, 32), &[Arg::U64(pin), Arg::U64(pout)]);
    let got = bench.read::<u64>(pout, 32 * counts[2]);
    let mut d = vec![f64::NAN; m * n];
    for (i, &word) in got.iter().enumerate() {
        for part in 0..per(sums) {
            let (row, column) = place('d', m, 1, i % 32, i / 32 * per(sums) + part);
            d[row * n + column] = decode(sums, word >> (part as u32 * bits(sums)));
        }
    }
    d
}

fn encode(ty: &str, value: i64) -> u64 {
    let single = u64::from((value as f32).to_bits());
    match ty {
        "f64" => (value as f64).to_bits(),
        "bf16" => single >> 16,
        "f32" | "tf32" => single,
        "s8" | "u8" => u64::from(value as u8),
        "s32" => u64::from(value as u32),
        // Small integers in binary16: the exponent's bias moves, and the fraction loses bits that are zero.
        _ if value == 0 => 0,
        _ => (single >> 16 & 0x8000) | ((single >> 13 & 0x3_ffff) - (112 << 10)),
    }
}

fn decode(ty: &str, bits: u64) -> f64 {
    match ty {
        "f64" => f64::from_bits(bits),
        "s32" => f64::from(bits as i32),
        "f16" if bits & 0x7fff == 0 => 0.0,
        "f16" => f64::from(f32::from_bits(((bits & 0x8000) << 16 | ((bits & 0x7fff) + (112 << 10)) << 13) as u32)),
        _ => f64::from(f32::from_bits(bits as u32)),
    }
}

#[test]
fn every_shape_and_type() {
    let a = |i: usize, k: usize| ((i * 5 + k * 3) % 7) as i64 - 3;
    let b = |k: usize, j: usize| ((k * 2 + j * 7) % 5) as i64 - 2;
    let c = |i: usize, j: usize| (i * 8 + j) as i64 % 19 - 9;
    for (shape, types) in [
        ([16, 8, 8], ["f16", "f16", "f16"]),
        ([16, 8, 8], ["f16", "f16", "f32"]),
        ([16, 8, 16], ["f16", "f16", "f16"]),
        ([16, 8, 16], ["f16", "f16", "f32"]),
        ([16, 8, 8], ["bf16", "bf16", "f32"]),
        ([16, 8, 16], ["bf16", "bf16", "f32"]),
        ([16, 8, 4], ["tf32", "tf32", "f32"]),
        ([16, 8, 8], ["tf32", "tf32", "f32"]),
        ([8, 8, 4], ["f64", "f64", "f64"]),
        ([16, 8, 4], ["f64", "f64", "f64"]),
        ([16, 8, 8], ["f64", "f64", "f64"]),
        ([16, 8, 16], ["f64", "f64", "f64"]),
        ([8, 8, 16], ["s8", "s8", "s32"]),
        ([16, 8, 16], ["s8", "s8", "s32"]),
        ([16, 8, 32], ["s8", "s8", "s32"]),
    ] {
        let [m, n, k] = shape;
        let [x, y, z] = types;
        let name = format!("mma.sync.aligned.m{m}n{n}k{k}.row.col.{z}.{x}.{y}.{z}");
        let got = product(&name, shape, types, [&a, &b, &c]);
        let wanted: Vec<f64> = (0..m * n)
            .map(|i| (c(i / n, i % n) + (0..k).map(|l| a(i / n, l) * b(l, i % n)).sum::<i64>()) as f64)
            .collect();
        assert_eq!(got, wanted, "{name}");
    }
}

#[test]
fn bytes_by_sign_and_at_the_ends() {
    let (high, low) = (|_: usize, _: usize| 255_i64, |_: usize, _: usize| -128_i64);
    let most = |_: usize, _: usize| i64::from(i32::MAX);
    let run = |name: &str, types: [&str; 2], values| {
        let name = format!("mma.sync.aligned.m16n8k16.row.col{name}.s32.{}.{}.s32", types[0], types[1]);
        product(&name, [16, 8, 16], [types[0], types[1], "s32"], values)[37]
    };
    let zero = |_: usize, _: usize| 0_i64;
    assert_eq!(run("", ["u8", "u8"], [&high, &high, &zero]), 16.0 * 255.0 * 255.0);
    assert_eq!(run("", ["u8", "s8"], [&high, &low, &zero]), -16.0 * 255.0 * 128.0);
    // 255 as a signed byte is -1.
    assert_eq!(run("", ["s8", "s8"], [&high, &low, &zero]), 16.0 * 128.0);
    assert_eq!(run("", ["s8", "s8"], [&high, &low, &most]), f64::from(i32::MIN + 2047));
    assert_eq!(run(".satfinite", ["s8", "s8"], [&high, &low, &most]), f64::from(i32::MAX));
}

#[test]
fn a_matrix_is_transposed() {
    let bench = Bench::new(
        ".visible .entry k(.param .u64 out) { .reg .b32 %r<8>; .reg .b64 %rd<4>; ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x;
mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, %rd2; shl.b32 %r2, %r1, 1; add.u32 %r3, %r2, 1; shl.b32 %r3, %r3, 16; or.b32 %r2, %r2, %r3;
movmatrix.sync.aligned.m8n8.trans.b16 %r4, %r2; st.global.u32 [%rd1], %r4; ret; }",
    );
    let out = bench.buffer(&[0_u16; 64]);
    bench.run("k", &Grid::linear(1, 32), &[Arg::U64(out)]);
    assert_eq!(bench.read::<u16>(out, 64), (0..64).map(|i| i % 8 * 8 + i / 8).collect::<Vec<u16>>());
}

#[test]
fn matrices_are_stored() {
    for count in [1_usize, 2, 4] {
        for transposed in [false, true] {
            let list = (0..count).map(|i| format!("%r{}", 10 + i)).collect::<Vec<_>>().join(", ");
            let trans = if transposed { ".trans" } else { "" };
            // Lane `l` has elements `2 l` and `2 l + 1` of each matrix, whose numbers begin at 100 times its own.
            let values: String =
                (0..count).map(|i| format!("add.u32 %r{}, %r3, {};", 10 + i, 100 * i * 0x1_0001)).collect();
            let bench = Bench::new(&format!(
                ".visible .entry k(.param .u64 out) {{ .shared .align 16 .b8 tile[512]; .reg .b32 %r<16>; .reg .b64 %rd<4>;
ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r4, tile; mad.lo.u32 %r5, %r1, 16, %r4; shl.b32 %r2, %r1, 1;
st.shared.v4.u32 [%r5], {{0, 0, 0, 0}}; bar.warp.sync -1;
mad.lo.u32 %r3, %r2, 0x10001, 0x10000; {values}
stmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 [%r5], {{{list}}}; bar.warp.sync -1;
mul.wide.u32 %rd2, %r1, 16; add.u64 %rd1, %rd1, %rd2; ld.shared.v4.u32 {{%r6, %r7, %r8, %r9}}, [%r5]; st.global.v4.u32 [%rd1], {{%r6, %r7, %r8, %r9}};
ret; }}"
            ));
            let out = bench.buffer(&[0_u16; 256]);
            bench.run("k", &Grid::linear(1, 32), &[Arg::U64(out)]);
            let element = |at: usize| {
                let (matrix, row, column) = (at / 64, at % 64 / 8, at % 8);
                let number = if transposed { column * 8 + row } else { row * 8 + column };
                if matrix < count { (100 * matrix + number) as u16 } else { 0 }
            };
            assert_eq!(bench.read::<u16>(out, 256), (0..256).map(element).collect::<Vec<_>>(), "x{count}{trans}");
        }
    }
}
