//! Shuffles, votes, matches, reductions, barriers with reductions, matrices.

use crate::common::{Arg, Bench};
use cuda_emu::Grid;

/// What each lane of a warp of `threads` gives in `%r2`; `%r1` is the lane.
fn lanes(body: &str, threads: u32) -> Vec<u32> {
    let bench = Bench::new(&format!(
        ".visible .entry k(.param .u64 out) {{ .reg .pred %p<4>; .reg .b32 %r<12>; .reg .b64 %rd<4>;
ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, %rd2; mov.u32 %r2, 0;
{body}
st.global.u32 [%rd1], %r2; ret; }}"
    ));
    let out = bench.buffer(&vec![0xffff_u32; threads as usize]);
    bench.run("k", &Grid::linear(1, threads), &[Arg::U64(out)]);
    bench.read(out, threads as usize)
}

fn each(f: impl Fn(u32) -> u32) -> Vec<u32> {
    (0..32).map(f).collect()
}

#[test]
fn shuffles_by_mode_segment_and_clamp() {
    let shuffle = |mode: &str, b: &str, c: u32| {
        lanes(
            &format!(
                "add.u32 %r3, %r1, 100; shfl.sync.{mode}.b32 %r2|%p1, %r3, {b}, {c}, -1; @%p1 add.u32 %r2, %r2, 1000;"
            ),
            32,
        )
    };
    // `up` clamps at 0 or at the start of the segment, the others at 31 or at its end.
    assert_eq!(shuffle("up", "3", 0), each(|i| if i >= 3 { i - 3 + 1100 } else { i + 100 }));
    assert_eq!(shuffle("down", "3", 31), each(|i| if i + 3 < 32 { i + 3 + 1100 } else { i + 100 }));
    assert_eq!(shuffle("bfly", "5", 31), each(|i| (i ^ 5) + 1100));
    assert_eq!(shuffle("idx", "7", 31), each(|_| 1107));
    // Segments of 8: the mask is 0x18 in bits 8 to 12.
    assert_eq!(shuffle("up", "3", 0x1800), each(|i| if i % 8 >= 3 { i - 3 + 1100 } else { i + 100 }));
    assert_eq!(shuffle("down", "3", 0x181f), each(|i| if i % 8 + 3 < 8 { i + 3 + 1100 } else { i + 100 }));
    assert_eq!(shuffle("idx", "2", 0x181f), each(|i| i / 8 * 8 + 2 + 1100));
    assert_eq!(shuffle("idx", "%r1", 31), each(|i| i + 1100));
}

#[test]
fn votes_matches_and_reductions() {
    let third = "rem.u32 %r3, %r1, 3; setp.eq.u32 %p1, %r3, 0;";
    let ballot: u32 = (0..32).filter(|i| i % 3 == 0).map(|i| 1 << i).sum();
    assert_eq!(lanes(&format!("{third} vote.sync.ballot.b32 %r2, %p1, -1;"), 32), each(|_| ballot));
    assert_eq!(lanes(&format!("{third} vote.sync.ballot.b32 %r2, !%p1, -1;"), 32), each(|_| !ballot));
    for (mode, wanted) in [("all", 0), ("any", 1), ("uni", 0)] {
        let text = format!("{third} vote.sync.{mode}.pred %p2, %p1, -1; selp.u32 %r2, 1, 0, %p2;");
        assert_eq!(lanes(&text, 32), each(|_| wanted), "{mode}");
    }
    let of = |r: u32| (0..32).filter(|i| i % 3 == r).map(|i| 1_u32 << i).sum::<u32>();
    assert_eq!(lanes(&format!("{third} match.any.sync.b32 %r2, %r3, -1;"), 32), each(|i| of(i % 3)));
    assert_eq!(lanes(&format!("{third} match.all.sync.b32 %r2|%p2, %r3, -1; @%p2 mov.u32 %r2, 7;"), 32), each(|_| 0));
    for (op, f) in [
        ("add.u32", (|a, b| a + b) as fn(u32, u32) -> u32),
        ("min.u32", u32::min),
        ("max.u32", u32::max),
        ("and.b32", |a, b| a & b),
        ("or.b32", |a, b| a | b),
        ("xor.b32", |a, b| a ^ b),
    ] {
        let wanted = (5..37).reduce(f).unwrap();
        assert_eq!(lanes(&format!("add.u32 %r3, %r1, 5; redux.sync.{op} %r2, %r3, -1;"), 32), each(|_| wanted), "{op}");
    }
    let text = "sub.s32 %r3, %r1, 16; redux.sync.min.s32 %r2, %r3, -1;";
    assert_eq!(lanes(text, 32), each(|_| (-16_i32) as u32));
    // Floats: lane 5 has NaN, the others lane - 20.
    let number =
        "cvt.rn.f32.u32 %r3, %r1; sub.f32 %r3, %r3, 0f41A00000; setp.eq.u32 %p1, %r1, 5; @%p1 mov.b32 %r3, 0x7fc00000;";
    for (op, wanted) in [
        ("min", (-20.0_f32).to_bits()),
        ("max", 11.0_f32.to_bits()),
        ("max.abs", 20.0_f32.to_bits()),
        ("min.abs", 0),
        ("min.NaN", 0x7fff_ffff),
        ("max.abs.NaN", 0x7fff_ffff),
    ] {
        assert_eq!(lanes(&format!("{number} redux.sync.{op}.f32 %r2, %r3, -1;"), 32), each(|_| wanted), "{op}");
    }
    // Lanes that part reduce among themselves.
    let text = "and.b32 %r3, %r1, 1; setp.eq.u32 %p1, %r3, 0; @%p1 bra even;
redux.sync.add.u32 %r2, %r1, 0xaaaaaaaa; bra joined; even: redux.sync.add.u32 %r2, %r1, 0x55555555; joined:";
    assert_eq!(lanes(text, 32), each(|i| if i % 2 == 0 { 240 } else { 256 }));
    assert_eq!(lanes("setp.lt.u32 %p1, %r1, 5; @%p1 activemask.b32 %r2;", 32), each(|i| if i < 5 { 31 } else { 0 }));
    assert_eq!(lanes("elect.sync %r2|%p1, -1; @%p1 add.u32 %r2, %r2, 9;", 32), each(|i| if i == 0 { 9 } else { 0 }));
}

#[test]
fn barriers_reduce_and_count() {
    let odd = "and.b32 %r3, %r1, 1; setp.ne.u32 %p1, %r3, 0;";
    assert_eq!(lanes(&format!("{odd} bar.red.popc.u32 %r2, 0, %p1;"), 96), vec![48; 96]);
    assert_eq!(lanes(&format!("{odd} barrier.cta.red.popc.aligned.u32 %r2, 1, 96, !%p1;"), 96), vec![48; 96]);
    assert_eq!(lanes(&format!("{odd} bar.red.or.pred %p2, 0, %p1; selp.u32 %r2, 1, 0, %p2;"), 64), vec![1; 64]);
    assert_eq!(lanes(&format!("{odd} bar.red.and.pred %p2, 0, %p1; selp.u32 %r2, 1, 0, %p2;"), 64), vec![0; 64]);
    // A producer that only arrives, and a consumer that waits.
    let text = "setp.lt.u32 %p1, %r1, 32; @%p1 bra consume; bar.arrive 2, 64; bra joined; consume: bar.sync 2, 64; mov.u32 %r2, 1; joined:";
    let wanted: Vec<u32> = (0..64).map(|i| u32::from(i < 32)).collect();
    assert_eq!(lanes(text, 64), wanted);
}

#[test]
fn matrices_are_loaded_and_multiplied() {
    // a[i][k] = i + 2 k and b[k][j] = k - j in shared memory as f16, both of which hold these numbers exactly.
    let bench = Bench::new(
        ".visible .entry k(.param .u64 in, .param .u64 out) { .shared .align 16 .b8 sa[512]; .shared .align 16 .b8 sb[256];
.reg .b32 %r<24>; .reg .f32 %f<8>; .reg .b64 %rd<8>;
ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; mov.u32 %r1, %tid.x;
mul.wide.u32 %rd3, %r1, 16; add.u64 %rd4, %rd1, %rd3; mov.u32 %r2, sa; mad.lo.u32 %r3, %r1, 16, %r2;
ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%rd4]; st.shared.v4.u32 [%r3], {%r4, %r5, %r6, %r7};
mov.u32 %r8, sb; mad.lo.u32 %r9, %r1, 8, %r8; mul.wide.u32 %rd5, %r1, 8; add.u64 %rd6, %rd1, %rd5;
ld.global.v2.u32 {%r4, %r5}, [%rd6+512]; st.shared.v2.u32 [%r9], {%r4, %r5};
bar.sync 0;
and.b32 %r10, %r1, 15; shr.u32 %r11, %r1, 4; shl.b32 %r10, %r10, 5; mad.lo.u32 %r10, %r11, 16, %r10; add.u32 %r10, %r10, %r2;
ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r4, %r5, %r6, %r7}, [%r10];
and.b32 %r12, %r1, 15; mad.lo.u32 %r12, %r12, 16, %r8;
ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r13, %r14}, [%r12];
mov.f32 %f1, 0f3F800000;
mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f2, %f3, %f4, %f5}, {%r4, %r5, %r6, %r7}, {%r13, %r14}, {%f1, %f1, %f1, %f1};
shr.u32 %r15, %r1, 2; and.b32 %r16, %r1, 3; mul.lo.u32 %r17, %r15, 8; mad.lo.u32 %r17, %r16, 2, %r17;
mul.wide.u32 %rd7, %r17, 4; add.u64 %rd7, %rd2, %rd7; st.global.v2.f32 [%rd7], {%f2, %f3}; st.global.v2.f32 [%rd7+256], {%f4, %f5};
ret; }",
    );
    // Small integers in binary16, positive or negative.
    let half = |n: i32| -> u16 {
        if n == 0 {
            return 0;
        }
        let exponent = n.unsigned_abs().ilog2();
        let fraction = (n.unsigned_abs() << (10 - exponent)) & 0x3ff;
        (if n < 0 { 0x8000 } else { 0 }) | ((exponent + 15) << 10 | fraction) as u16
    };
    let mut input: Vec<u16> = (0..256).map(|i| half(i / 16 + 2 * (i % 16))).collect();
    input.extend((0..128).map(|i| half(i / 8 - i % 8)));
    let (a, out) = (bench.buffer(&input), bench.buffer(&[0.0_f32; 128]));
    bench.run("k", &Grid::linear(1, 32), &[Arg::U64(a), Arg::U64(out)]);
    let wanted: Vec<f32> = (0..128)
        .map(|n| {
            let (i, j) = (n / 8, n % 8);
            1.0 + (0..16).map(|k| ((i + 2 * k) * (k - j)) as f32).sum::<f32>()
        })
        .collect();
    assert_eq!(bench.read::<f32>(out, 128), wanted);
}
