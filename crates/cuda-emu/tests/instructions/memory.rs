//! Moves, loads, stores, address conversions, atomics.

use crate::common::eval::table;
use crate::common::{Arg, Bench};
use cuda_emu::Grid;

#[test]
fn vectors_are_packed_from_the_lowest_bits() {
    table("mov.b64 %d, {%a, %b};", "b64", &["b32", "b32"], &[&[1, 2, 0x2_0000_0001]]);
    table("mov.b32 %d, {%a, %b};", "b32", &["b16", "b16"], &[&[1, 2, 0x2_0001]]);
    table("mov.b64 %d, {%a, %b, %a, %b};", "b64", &["b16", "b16"], &[&[1, 2, 0x0002_0001_0002_0001]]);
    table("mov.b64 {%d, _}, %a;", "b32", &["b64"], &[&[0x2_0000_0001, 1]]);
    table("mov.b64 {_, %d}, %a;", "b32", &["b64"], &[&[0x2_0000_0001, 2]]);
    let text = "{ .reg .b16 %h<4>; mov.b64 {%h0, %h1, %h2, %h3}, %a; mov.b16 %d, %h2; }";
    table(text, "b16", &["b64"], &[&[0x0004_0003_0002_0001, 3]]);
    let text = "{ .reg .b128 %v; .reg .b64 %l; mov.b128 %v, {%a, %b}; mov.b128 {%l, %d}, %v; }";
    table(text, "b64", &["b64", "b64"], &[&[1, 2, 2]]);
    table("mov.f32 %d, 0f3F800000;", "f32", &["b32"], &[&[0, 0x3f80_0000]]);
    table("mov.f64 %d, 1.5;", "f64", &["b32"], &[&[0, 1.5_f64.to_bits()]]);
    table("mov.u32 %d, WARP_SZ;", "u32", &["b32"], &[&[0, 32]]);
}

#[test]
fn narrow_loads_extend_and_stores_truncate() {
    let bench = Bench::new(
        ".visible .entry k(.param .u64 in, .param .u64 out) {
.reg .b16 %h; .reg .b32 %r<4>; .reg .b64 %rd<6>;
ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out];
ld.global.s8 %r1, [%rd1]; st.global.u32 [%rd2], %r1;
ld.global.u8 %r1, [%rd1]; st.global.u32 [%rd2+4], %r1;
ld.global.s16 %rd3, [%rd1]; st.global.u64 [%rd2+8], %rd3;
ld.s8 %h, [%rd1]; cvt.s32.s16 %r2, %h; st.global.u32 [%rd2+16], %r2;
mov.u64 %rd4, 0x1122334455667788; st.global.u16 [%rd2+20], %rd4; st.global.u8 [%rd2+22], %rd4; st.global.u8 [%rd2+23], 1;
ld.global.v2.u16 {%r1, %r2}, [%rd1]; add.u32 %r3, %r1, %r2; st.global.v2.b32 [%rd2+24], {%r3, _};
ret; }"
            .replace(", _};", ", %r1};")
            .as_str(),
    );
    let input = bench.buffer(&[0x8081_u16, 0x0002]);
    let out = bench.buffer(&[0_u32; 8]);
    bench.run("k", &Grid::linear(1, 1), &[Arg::U64(input), Arg::U64(out)]);
    let wanted = [0xffff_ff81, 0x81, 0xffff_8081, 0xffff_ffff, 0xffff_ff81, 0x0188_7788, 0x8083, 0x8081];
    assert_eq!(bench.read::<u32>(out, 8), wanted);
}

#[test]
fn generic_addresses_know_their_space() {
    let bench = Bench::new(
        ".const .u32 c[2] = {11, 12}; .global .u32 g = 13; .global .u64 where = generic(g);
.visible .entry k(.param .u64 out) {
.shared .u32 s; .local .u32 l; .reg .b32 %r<8>; .reg .b64 %rd<12>; .reg .pred %p<5>;
ld.param.u64 %rd1, [out];
mov.u64 %rd2, s; cvta.shared.u64 %rd3, %rd2; st.u32 [%rd3], 14; ld.shared.u32 %r1, [s];
mov.u64 %rd4, l; cvta.local.u64 %rd5, %rd4; st.u32 [%rd5], 15; ld.local.u32 %r2, [l];
mov.u64 %rd6, c; cvta.const.u64 %rd7, %rd6; ld.u32 %r3, [%rd7+4];
ld.const.u32 %r4, [c]; ld.global.u64 %rd8, [where]; ld.u32 %r5, [%rd8];
st.global.v4.u32 [%rd1], {%r1, %r2, %r3, %r4}; st.global.u32 [%rd1+16], %r5;
isspacep.shared %p1, %rd3; isspacep.local %p2, %rd5; isspacep.global %p3, %rd1; isspacep.shared %p4, %rd1;
selp.u32 %r1, 1, 0, %p1; selp.u32 %r2, 1, 0, %p2; selp.u32 %r3, 1, 0, %p3; selp.u32 %r4, 1, 0, %p4;
st.global.u32 [%rd1+20], %r1; st.global.u32 [%rd1+24], %r2; st.global.u32 [%rd1+28], %r3; st.global.u32 [%rd1+32], %r4;
ret; }",
    );
    let out = bench.buffer(&[0_u32; 9]);
    bench.run("k", &Grid::linear(1, 1), &[Arg::U64(out)]);
    assert_eq!(bench.read::<u32>(out, 9), [14, 15, 12, 11, 13, 1, 1, 1, 0]);
    let (address, bytes) = bench.device.symbol(&bench.module, "g").unwrap().unwrap();
    assert_eq!((bench.read::<u32>(address, 1), bytes), (vec![13], 4));
}

#[test]
fn atomics_give_the_old_value() {
    let cases: &[(&str, &str, u64, &[u64], u64)] = &[
        ("add.u32", "b32", 5, &[3], 8),
        ("add.u64", "b64", u64::MAX, &[2], 1),
        ("min.s32", "b32", 5, &[0xffff_ffff], 0xffff_ffff),
        ("min.u32", "b32", 5, &[0xffff_ffff], 5),
        ("max.s64", "b64", 5, &[u64::MAX], 5),
        ("max.u64", "b64", 5, &[u64::MAX], u64::MAX),
        ("and.b32", "b32", 6, &[3], 2),
        ("or.b64", "b64", 6, &[3], 7),
        ("xor.b32", "b32", 6, &[3], 5),
        ("exch.b64", "b64", 6, &[3], 3),
        ("cas.b32", "b32", 6, &[6, 9], 9),
        ("cas.b32", "b32", 6, &[7, 9], 6),
        ("cas.b16", "b16", 6, &[6, 9], 9),
        ("inc.u32", "b32", 6, &[6], 0),
        ("inc.u32", "b32", 5, &[6], 6),
        ("dec.u32", "b32", 0, &[6], 6),
        ("dec.u32", "b32", 9, &[6], 6),
        ("add.f32", "b32", 0x3f80_0000, &[0x3f80_0000], 0x4000_0000),
        ("add.f64", "b64", 1.5_f64.to_bits(), &[0.25_f64.to_bits()], 1.75_f64.to_bits()),
        ("add.noftz.f16", "b16", 0x3c00, &[0x3c00], 0x4000),
        ("add.noftz.f16x2", "b32", 0x3c00_0001, &[0x3c00_0001], 0x4000_0002),
        ("add.s32", "b32", 0xffff_ffff, &[1], 0),
        ("add.s64", "b64", u64::MAX, &[1], 0),
        ("min.u64", "b64", 5, &[u64::MAX], 5),
        ("min.s64", "b64", 5, &[u64::MAX], u64::MAX),
        ("max.s32", "b32", 5, &[0xffff_ffff], 5),
        ("max.u32", "b32", 5, &[0xffff_ffff], 0xffff_ffff),
        ("and.b64", "b64", 6 << 40, &[3 << 40], 2 << 40),
        ("or.b32", "b32", 6, &[3], 7),
        ("xor.b64", "b64", 6, &[u64::MAX], !6),
        ("exch.b32", "b32", 6, &[3], 3),
        ("cas.b64", "b64", 1 << 40, &[1 << 40, 9], 9),
        ("cas.b64", "b64", 1, &[1 << 40, 9], 1),
        ("cas.b16", "b16", 7, &[6, 9], 7),
        ("dec.u32", "b32", 5, &[6], 4),
        ("inc.u32", "b32", 9, &[6], 0),
        ("add.noftz.f16", "b16", 0x7bff, &[0x7bff], 0x7c00),
        ("add.noftz.bf16", "b16", 0x3f80, &[0x3b80], 0x3f80),
        ("add.f32", "b32", 1, &[1], 2),
        ("add.noftz.bf16x2", "b32", 0x3f80_3f80, &[0x3f80_4000], 0x4000_4040),
    ];
    for &(op, ty, old, operands, new) in cases {
        let operands: Vec<String> = operands.iter().map(u64::to_string).collect();
        for space in ["global", "shared", ""] {
            let dot = if space.is_empty() { "" } else { "." };
            let mut text = format!(
                ".visible .entry k(.param .u64 out) {{ .shared .align 8 .b64 s; .reg .{ty} %d, %n, %b, %c; .reg .b64 %rd<4>;
ld.param.u64 %rd1, [out]; mov.u64 %rd2, {}; mov.{ty} %n, {old}; st.shared.{ty} [s], %n; st.global.{ty} [%rd1+8], %n;
mov.{ty} %b, {};",
                if space == "shared" { "s" } else { "%rd1" },
                operands[0],
            );
            let offset = if space == "shared" { 0 } else { 8 };
            let third = operands.get(1).map_or(String::new(), |c| {
                text += &format!("mov.{ty} %c, {c};");
                ", %c".into()
            });
            text += &format!("atom{dot}{space}.{op} %d, [%rd2+{offset}], %b{third};");
            text += &format!(
                "ld.{}.{ty} %n, [{}]; st.global.{ty} [%rd1], %d; st.global.{ty} [%rd1+16], %n; ret; }}",
                if space == "shared" { "shared" } else { "global" },
                if space == "shared" { "s" } else { "%rd1+8" }
            );
            let bench = Bench::new(&text);
            let out = bench.buffer(&[0_u64; 3]);
            bench.run("k", &Grid::linear(1, 1), &[Arg::U64(out)]);
            let got = bench.read::<u64>(out, 3);
            assert_eq!((got[0], got[2]), (old, new), "{space} {op}");
        }
    }
}

#[test]
fn every_order_and_scope() {
    let mut body = String::new();
    let mut count = 0;
    for order in ["", ".relaxed", ".acquire", ".release", ".acq_rel"] {
        for scope in ["", ".cta", ".cluster", ".gpu", ".sys"] {
            for space in ["", ".global"] {
                body += &format!(
                    "atom{order}{scope}{space}.add.u32 %r1, [%rd1], 1; red{order}{scope}{space}.add.u32 [%rd1], 1;\n"
                );
                count += 2;
            }
        }
    }
    for (order, access) in
        [("weak", ""), ("volatile", ""), ("relaxed", ".gpu"), ("acquire", ".cta"), ("acquire", ".sys")]
    {
        body += &format!("ld.{order}{access}.global.u32 %r1, [%rd1];\n");
        let store = order.replace("acquire", "release");
        body += &format!("st.{store}{access}.global.u32 [%rd1], %r1;\n");
    }
    for cache in ["ca", "cg", "cs", "lu", "cv"] {
        body += &format!("ld.global.{cache}.u32 %r1, [%rd1];\n");
    }
    for cache in ["wb", "cg", "cs", "wt"] {
        body += &format!("st.global.{cache}.u32 [%rd1], %r1;\n");
    }
    body += "ld.global.nc.L1::evict_last.L2::128B.u32 %r1, [%rd1+4]; ldu.global.u32 %r1, [%rd1+4]; st.global.u32 [%rd1+8], %r1;\n";
    for fence in ["membar.cta", "membar.gl", "membar.sys", "fence.sc.cta", "fence.acq_rel.gpu", "fence.acquire.cta"] {
        body += &format!("{fence};\n");
    }
    let bench = Bench::new(&format!(
        ".visible .entry k(.param .u64 out) {{ .reg .b32 %r<2>; .reg .b64 %rd<2>; ld.param.u64 %rd1, [out]; {body} ret; }}"
    ));
    let out = bench.buffer(&[0_u32, 7, 0]);
    bench.run("k", &Grid::linear(1, 1), &[Arg::U64(out)]);
    assert_eq!(bench.read::<u32>(out, 3), [count, 7, 7]);
}

#[test]
fn asynchronous_copies_fill_with_zeros() {
    let bench = Bench::new(
        ".visible .entry k(.param .u64 in, .param .u64 out) { .shared .align 16 .b8 s[32]; .reg .b32 %r<9>; .reg .b64 %rd<4>;
ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; mov.u32 %r1, s;
cp.async.cg.shared.global [%r1], [%rd1], 16; cp.async.ca.shared.global [%r1+16], [%rd1], 8, 4;
cp.async.commit_group; cp.async.wait_group 0; bar.sync 0;
ld.shared.v4.u32 {%r2, %r3, %r4, %r5}, [s]; st.global.v4.u32 [%rd2], {%r2, %r3, %r4, %r5};
ld.shared.v2.u32 {%r2, %r3}, [s+16]; st.global.v2.u32 [%rd2+16], {%r2, %r3}; ret; }",
    );
    let input = bench.buffer(&[1_u32, 2, 3, 4]);
    let out = bench.buffer(&[9_u32; 6]);
    bench.run("k", &Grid::linear(1, 1), &[Arg::U64(input), Arg::U64(out)]);
    assert_eq!(bench.read::<u32>(out, 6), [1, 2, 3, 4, 1, 0]);
}

#[test]
fn atomics_on_vectors_are_one_for_each_element() {
    // Every thread adds to all elements; old values differ from thread to thread.
    for (form, register, word, one) in [
        ("v4.f32", "f32", "b32", 0x3f80_0000_u32),
        ("v2.f32", "f32", "b32", 0x3f80_0000),
        ("noftz.v4.f16x2", "b32", "b32", 0x3c00_3c00),
        ("noftz.v2.bf16x2", "b32", "b32", 0x3f80_3f80),
    ] {
        let count: usize = if form.contains("v4") { 4 } else { 2 };
        let list = |letter: &str| (0..count).map(|i| format!("%{letter}{i}")).collect::<Vec<_>>().join(", ");
        let ty = form.rsplit('.').next().unwrap();
        let op = form.trim_end_matches(ty).trim_end_matches('.');
        let set: String = (0..count).map(|i| format!("mov.{word} %b{i}, {one};")).collect();
        let bench = Bench::new(&format!(
            ".visible .entry k(.param .u64 out) {{ .reg .{register} %d<5>, %b<5>; .reg .b64 %rd<4>; ld.param.u64 %rd1, [out]; {set}
atom.global.add.{op}.{ty} {{{}}}, [%rd1], {{{}}}; red.global.add.{op}.{ty} [%rd1], {{{}}}; ret; }}",
            list("d"), list("b"), list("b"),
        ));
        let out = bench.buffer(&[0_u32; 4]);
        let counters = bench.run("k", &Grid::linear(1, 16), &[Arg::U64(out)]);
        // 32 in each type.
        let wanted = match ty {
            "f32" => 0x4200_0000,
            "f16x2" => 0x5000_5000,
            _ => 0x4200_4200,
        };
        let got = bench.read::<u32>(out, 4);
        assert!(got[..count].iter().all(|&v| v == wanted) && got[count..].iter().all(|&v| v == 0), "{form}: {got:x?}");
        assert_eq!(counters.atomics, 2 * 16 * count as u64);
    }
}
