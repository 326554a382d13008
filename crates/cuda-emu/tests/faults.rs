//! Planted faults, each found, with the place that the report has to name.

mod common;

use common::{Arg, Bench};
use cuda_emu::{Checks, FaultKind, Grid, LaunchError, MemoryError, Space};

/// A kernel with a pointer `%rd1`, the thread in `%r1`, and the address of the thread's word in `%rd3`.
fn kernel(body: &str) -> Bench {
    Bench::new(&format!(
        ".visible .entry k(.param .u64 data)
{{
.reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %rd<16>; .shared .align 8 .b8 tile[256]; .local .align 4 .b8 own[16];
ld.param.u64 %rd1, [data]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd3, %rd1, %rd2; mov.u32 %r2, tile; mad.lo.u32 %r3, %r1, 4, %r2;
{body}
ret;
}}"
    ))
    .threads(1)
}

/// Line of the body's first line in the text that [`kernel`] makes.
const BODY: u32 = 8;

#[test]
fn global_accesses_out_of_bounds() {
    let bench = kernel("ld.global.u32 %r4, [%rd3];");
    let data = bench.buffer(&[0_u32; 40]);
    let fault = bench.fault("k", &Grid::linear(1, 64), &[Arg::U64(data)]);
    assert_eq!(fault.kind, FaultKind::OutOfBounds { bytes: 4 });
    assert_eq!((fault.line, fault.thread, fault.block), (BODY, [40, 0, 0], [0, 0, 0]));
    assert_eq!(fault.address, Some((Space::Global, data + 160)));
    let nearest = fault.nearest.unwrap();
    assert_eq!((nearest.base, nearest.bytes, nearest.offset, nearest.freed), (data, 160, 160, false));
}

#[test]
fn an_access_that_begins_inside_and_ends_outside() {
    let bench = kernel("ld.global.v2.u32 {%r4, %r5}, [%rd1+8];");
    let data = bench.buffer(&[0_u32; 3]);
    let fault = bench.fault("k", &Grid::linear(1, 1), &[Arg::U64(data)]);
    assert_eq!(fault.kind, FaultKind::OutOfBounds { bytes: 8 });
}

#[test]
fn null_pointers() {
    for body in ["ld.global.u32 %r4, [%rd3];", "st.u32 [%rd3], %r1;", "atom.global.add.u32 %r4, [%rd3], 1;"] {
        let bench = kernel(body);
        let fault = bench.fault("k", &Grid::linear(1, 1), &[Arg::U64(0)]);
        assert_eq!(fault.kind, FaultKind::OutOfBounds { bytes: 4 }, "{body}");
    }
}

#[test]
fn misaligned_accesses() {
    for (body, bytes) in [
        ("ld.global.u32 %r4, [%rd1+2];", 4),
        ("st.global.u64 [%rd1+4], %rd1;", 8),
        ("ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%rd1+8];", 16),
        ("st.shared.u32 [tile+1], %r1;", 4),
        ("st.local.u16 [own+3], %r1;", 2),
    ] {
        let bench = kernel(body);
        let data = bench.buffer(&[0_u32; 16]);
        let fault = bench.fault("k", &Grid::linear(1, 1), &[Arg::U64(data)]);
        assert_eq!(fault.kind, FaultKind::Misaligned { bytes }, "{body}");
    }
}

#[test]
fn freed_memory() {
    let bench = kernel("st.global.u32 [%rd3], %r1;");
    let data = bench.buffer(&[0_u32; 32]);
    bench.device.free(data).unwrap();
    let fault = bench.fault("k", &Grid::linear(1, 32), &[Arg::U64(data)]);
    assert_eq!(fault.kind, FaultKind::UseAfterFree { bytes: 4 });
    assert!(fault.nearest.unwrap().freed);
    assert_eq!(bench.device.free(data), Err(MemoryError::NoAllocation { address: data }));
}

#[test]
fn shared_and_local_accesses_out_of_bounds() {
    let bench = kernel("st.shared.u32 [%r3], %r1;");
    let fault = bench.fault("k", &Grid::linear(1, 96), &[Arg::U64(0)]);
    assert_eq!((fault.kind, fault.thread), (FaultKind::OutOfBounds { bytes: 4 }, [64, 0, 0]));
    assert_eq!(fault.address, Some((Space::Shared, 256)));
    let bench = kernel("st.local.u32 [own+16], %r1;");
    let fault = bench.fault("k", &Grid::linear(1, 1), &[Arg::U64(0)]);
    assert_eq!(fault.kind, FaultKind::OutOfBounds { bytes: 4 });
}

#[test]
fn writes_to_constants() {
    let bench = Bench::new(
        ".const .u32 c = 5;
.visible .entry k() { .reg .b64 %rd<3>; mov.u64 %rd1, c; cvta.const.u64 %rd2, %rd1; st.u32 [%rd2], 1; ret; }",
    );
    let fault = bench.fault("k", &Grid::linear(1, 1), &[]);
    assert_eq!(fault.kind, FaultKind::ReadOnly);
    assert_eq!(fault.nearest.unwrap().name.as_deref(), Some("c"));
}

#[test]
fn reads_of_memory_that_nothing_wrote() {
    let bench = kernel("ld.global.u32 %r4, [%rd3];");
    let data = bench.device.allocate(128).unwrap();
    bench.device.write(data, &[1; 64]).unwrap();
    let fault = bench.fault("k", &Grid::linear(1, 32), &[Arg::U64(data)]);
    assert_eq!((fault.kind, fault.thread), (FaultKind::Uninitialised { bytes: 4 }, [16, 0, 0]));
    let bench = kernel("ld.shared.u32 %r4, [%r3];");
    let fault = bench.fault("k", &Grid::linear(1, 1), &[Arg::U64(0)]);
    assert_eq!(fault.kind, FaultKind::Uninitialised { bytes: 4 });
    // Without the check it is no fault.
    bench_without_checks("ld.shared.u32 %r4, [%r3];");
}

/// Values from local memory that nothing wrote may be copied, as compilers do with what pads a structure, and thrown away.
/// They may not decide anything.
#[test]
fn local_memory_that_nothing_wrote() {
    let read = "setp.ge.u32 %p3, %r1, 4; @%p3 st.local.u32 [own], %r1; ld.local.u32 %r4, [own]; mov.u32 %r5, %r4;";
    for decides in [
        "add.u32 %r6, %r5, 1;\nsetp.eq.u32 %p1, %r6, 0; @%p1 bra done; done:",
        "cvt.u64.u32 %rd4, %r5;\nadd.u64 %rd4, %rd3, %rd4; ld.global.u32 %r6, [%rd4];",
        "st.local.u32 [own+4], %r5;\nld.local.u32 %r6, [own+4]; list: .branchtargets a, a; brx.idx %r6, list; a:",
    ] {
        let bench = kernel(&format!("{read} {decides}"));
        let data = bench.buffer(&[0_u32; 64]);
        let fault = bench.fault("k", &Grid::linear(1, 8), &[Arg::U64(data)]);
        assert_eq!((fault.kind, fault.line), (FaultKind::Uninitialised { bytes: 4 }, BODY + 1), "{decides}");
        assert_eq!(fault.thread, [0, 0, 0]);
    }
    for harmless in [
        "st.global.u32 [%rd3], %r5;",
        "setp.ge.u32 %p1, %r1, 4; selp.u32 %r6, %r5, 0, %p1; mov.u32 %r6, 3; setp.eq.u32 %p1, %r6, 0; @%p1 trap;",
        "st.local.u8 [own+4], %r1; ld.local.u32 %r5, [own+4]; setp.eq.u32 %p1, %r5, 0x1000; @%p1 trap;",
    ] {
        let bench = kernel(&format!("{read} {harmless}"));
        bench.run("k", &Grid::linear(1, 8), &[Arg::U64(bench.buffer(&[0_u32; 64]))]);
    }
}

/// A function's frame is new at each call, although it lies where the last one was.
#[test]
fn frames_begin_unwritten() {
    let module = |first: &str| {
        Bench::new(&format!(
            ".func (.param .b32 r) f(.param .b32 a) {{ .reg .b32 %r<3>; .reg .pred %p; .local .b32 own;
ld.param.b32 %r1, [a]; setp.eq.u32 %p, %r1, 0; {first} st.local.b32 [own], %r1;
ld.local.b32 %r2, [own]; setp.gt.u32 %p, %r2, 9; @%p trap; st.param.b32 [r], %r2; ret; }}
.visible .entry k() {{ .reg .b32 %r<3>; .reg .pred %p; mov.u32 %r1, 0;
again: {{ .param .b32 a; .param .b32 r; st.param.b32 [a], %r1; call (r), f, (a); ld.param.b32 %r2, [r]; }}
add.u32 %r1, %r1, 1; setp.lt.u32 %p, %r1, 2; @%p bra again; ret; }}"
        ))
    };
    module("").run("k", &Grid::linear(1, 32), &[]);
    // Only the first call writes.
    let fault = module("@%p").fault("k", &Grid::linear(1, 32), &[]);
    assert_eq!(fault.kind, FaultKind::Uninitialised { bytes: 4 });
    assert_eq!(fault.function, "f");
}

fn bench_without_checks(body: &str) {
    let bench = kernel(body).checks(Checks::NONE);
    let data = bench.buffer(&[0_u32; 64]);
    bench.run("k", &Grid::linear(1, 64), &[Arg::U64(data)]);
}

/// Clears the tile, writes own word of it, waits as `wait` says, reads the word of thread `tid ^ flip`.
fn neighbours(wait: &str, flip: u32) -> String {
    format!(
        "st.shared.u32 [%r3], 0; bar.sync 0;
st.shared.u32 [%r3], %r1;
{wait}
xor.b32 %r5, %r1, {flip};
mad.lo.u32 %r6, %r5, 4, %r2;
ld.shared.u32 %r4, [%r6];"
    )
}

#[test]
fn races_on_shared_memory() {
    for (wait, flip) in [("", 1), ("", 32), ("bar.warp.sync -1;", 32), ("membar.cta;", 32), ("membar.cta;", 1)] {
        for seed in [None, Some(3)] {
            let mut bench = kernel(&neighbours(wait, flip));
            bench.options.seed = seed;
            let fault = bench.fault("k", &Grid::linear(1, 64), &[Arg::U64(0)]);
            assert!(matches!(fault.kind, FaultKind::Race { .. }), "{wait} {flip}: {fault}");
        }
    }
    for (wait, flip) in [("bar.sync 0;", 32), ("bar.sync 0;", 1), ("bar.warp.sync -1;", 1), ("bar.sync 3, 64;", 32)] {
        let bench = kernel(&neighbours(wait, flip));
        bench.run("k", &Grid::linear(1, 64), &[Arg::U64(0)]);
    }
}

#[test]
fn a_missing_second_barrier() {
    let body = "st.shared.u32 [%r3], %r1;
bar.sync 0;
xor.b32 %r5, %r1, 32; mad.lo.u32 %r6, %r5, 4, %r2;
ld.shared.u32 %r4, [%r6];
st.shared.u32 [%r3], 7;";
    let fault = kernel(body).fault("k", &Grid::linear(1, 64), &[Arg::U64(0)]);
    let FaultKind::Race { write, other_write, .. } = fault.kind else { panic!("{fault}") };
    // Either the write comes after the read or the read after the write.
    assert!(write != other_write, "{fault}");
}

#[test]
fn races_on_global_memory() {
    // Every block writes the first word.
    let body = "mov.u32 %r5, %ctaid.x; st.global.u32 [%rd3], %r5;";
    let bench = kernel(body);
    let data = bench.buffer(&[9_u32; 32]);
    let fault = bench.fault("k", &Grid::linear(2, 32), &[Arg::U64(data)]);
    let FaultKind::Race { write: true, other_write: true, other_block, .. } = fault.kind else { panic!("{fault}") };
    assert_ne!(other_block, fault.block[0]);
    // Atomics may, and so may writes of the value that is there already.
    for body in ["red.global.add.u32 [%rd1], 1;", "mov.u32 %r5, 9; st.global.u32 [%rd1], %r5;"] {
        let bench = kernel(body);
        let data = bench.buffer(&[9_u32; 32]);
        bench.run("k", &Grid::linear(4, 64), &[Arg::U64(data)]);
    }
    // A write among atomics may not.
    let bench = kernel("red.global.add.u32 [%rd1], 1; mov.u32 %r5, %ctaid.x; st.global.u32 [%rd1], %r5;");
    let data = bench.buffer(&[77_u32; 32]);
    let fault = bench.fault("k", &Grid::linear(2, 32), &[Arg::U64(data)]);
    assert!(matches!(fault.kind, FaultKind::Race { .. }), "{fault}");
}

#[test]
fn the_last_block_may_read_what_others_wrote() {
    // Each block writes a word, makes a fence and counts; the last one adds them up.
    let body = "mov.u32 %r5, %ctaid.x; mov.u32 %r9, %nctaid.x;
mul.wide.u32 %rd4, %r5, 4; add.u64 %rd5, %rd1, %rd4;
add.u32 %r6, %r5, 100;
st.global.u32 [%rd5], %r6;
FENCE
atom.global.add.u32 %r7, [%rd1+128], 1;
sub.u32 %r8, %r9, 1;
setp.ne.u32 %p1, %r7, %r8;
@%p1 ret;
mov.u32 %r10, 0; mov.u32 %r11, 0;
more: mul.wide.u32 %rd6, %r10, 4; add.u64 %rd7, %rd1, %rd6; ld.global.u32 %r12, [%rd7]; add.u32 %r11, %r11, %r12;
add.u32 %r10, %r10, 1; setp.lt.u32 %p2, %r10, %r9; @%p2 bra more;
st.global.u32 [%rd1+132], %r11;";
    let run = |fence: &str, seed| {
        let mut bench = kernel(&body.replace("FENCE", fence));
        bench.options.seed = seed;
        let data = bench.buffer(&[0_u32; 40]);
        let result = bench.try_run("k", &Grid::linear(8, 1), &[Arg::U64(data)]);
        (result, bench.read::<u32>(data + 132, 1)[0])
    };
    for seed in [None, Some(1), Some(2)] {
        let (result, sum) = run("membar.gl;", seed);
        assert!(result.is_ok(), "{result:?}");
        assert_eq!(sum, 828);
        let (result, _) = run("", seed);
        assert!(matches!(result, Err(LaunchError::Fault(fault)) if matches!(fault.kind, FaultKind::Race { .. })));
    }
}

#[test]
fn divergent_barriers() {
    let body = "setp.lt.u32 %p1, %r1, 16;
@%p1 bra first;
bar.sync 0;
bra joined;
first:
bar.sync 0;
joined:";
    let fault = kernel(body).fault("k", &Grid::linear(1, 32), &[Arg::U64(0)]);
    assert!(matches!(fault.kind, FaultKind::DivergentBarrier { live: u32::MAX, .. }), "{fault}");
    // Lanes that have exited aren't missed.
    let body = "setp.lt.u32 %p1, %r1, 16;
@%p1 ret;
bar.sync 0;";
    kernel(body).run("k", &Grid::linear(1, 64), &[Arg::U64(0)]);
}

#[test]
fn deadlocks() {
    // The second warp never comes.
    let body = "setp.ge.u32 %p1, %r1, 32;
@%p1 bra other;
bar.sync 1, 64;
bra joined;
other:
bar.sync 2, 64;
joined:";
    let fault = kernel(body).fault("k", &Grid::linear(1, 64), &[Arg::U64(0)]);
    assert_eq!(fault.kind, FaultKind::Deadlock);
    let fault = kernel(
        "setp.lt.u32 %p1, %r1, 4; @%p1 bra part; bra joined;
part: bar.warp.sync 0xff;
joined: @!%p1 bra joined;",
    )
    .steps(10_000)
    .fault("k", &Grid::linear(1, 8), &[Arg::U64(0)]);
    assert_eq!(fault.kind, FaultKind::StepLimit { steps: 10_000 });
}

#[test]
fn exchanges_that_nobody_can_complete() {
    let body = "setp.lt.u32 %p1, %r1, 16;
@%p1 bra first;
shfl.sync.idx.b32 %r4, %r1, 0, 31, -1;
bra joined;
first:
mov.u32 %r5, 1;
joined:
bar.warp.sync -1;";
    let fault = kernel(body).fault("k", &Grid::linear(1, 32), &[Arg::U64(0)]);
    assert!(matches!(fault.kind, FaultKind::DivergentExchange { .. }), "{fault}");
    let fault = kernel("shfl.sync.idx.b32 %r4, %r1, 0, 31, 0xffff;").fault("k", &Grid::linear(1, 32), &[Arg::U64(0)]);
    assert_eq!((fault.kind, fault.thread), (FaultKind::NotAMember { members: 0xffff }, [16, 0, 0]));
}

#[test]
fn lanes_that_parted_meet_at_exchanges() {
    // Both arms wait for the whole warp, each at its own place.
    let body = "setp.lt.u32 %p1, %r1, 16;
@%p1 bra first;
st.shared.u32 [%r3], 5;
bar.warp.sync -1;
bra joined;
first:
bar.warp.sync -1;
ld.shared.u32 %r4, [tile+64];
st.global.u32 [%rd3], %r4;
joined:";
    let bench = kernel(body);
    let data = bench.buffer(&[0_u32; 32]);
    bench.run("k", &Grid::linear(1, 32), &[Arg::U64(data)]);
    assert_eq!(bench.read::<u32>(data, 16), [5; 16]);
}

#[test]
fn traps_bad_calls_and_bad_grids() {
    let fault = kernel("setp.eq.u32 %p1, %r1, 5;\n@%p1 trap;").fault("k", &Grid::linear(1, 8), &[Arg::U64(0)]);
    assert_eq!((fault.kind.clone(), fault.thread, fault.line), (FaultKind::Trap, [5, 0, 0], BODY + 1));
    assert!(fault.to_string().contains("kernel `k`, line 9, block [0, 0, 0], thread [5, 0, 0]"), "{fault}");
    let fault = kernel("call %rd1, ();").fault("k", &Grid::linear(1, 1), &[Arg::U64(48)]);
    assert_eq!(fault.kind, FaultKind::BadCall { address: 48 });
    let fault =
        kernel("list: .branchtargets a, b; brx.idx %r1, list; a: b:").fault("k", &Grid::linear(1, 3), &[Arg::U64(0)]);
    assert_eq!(fault.kind, FaultKind::BadBranch { index: 2 });
    let fault = kernel("bar.sync 16;").fault("k", &Grid::linear(1, 32), &[Arg::U64(0)]);
    assert_eq!(fault.kind, FaultKind::BadBarrier { id: 16, threads: 0 });
    let bench = kernel("");
    for grid in [
        Grid::linear(0, 1),
        Grid::linear(1, 0),
        Grid::linear(1, 1025),
        Grid { shared_bytes: 1 << 20, ..Grid::linear(1, 1) },
    ] {
        let result = bench.try_run("k", &grid, &[Arg::U64(0)]);
        assert!(matches!(result, Err(LaunchError::Grid { .. })), "{grid:?}");
    }
    assert!(matches!(
        bench.try_run("k", &Grid::linear(1, 1), &[]),
        Err(LaunchError::Parameters { given: 0, needed: 8 })
    ));
    assert!(matches!(bench.try_run("nothing", &Grid::linear(1, 1), &[]), Err(LaunchError::NoKernel { .. })));
}

#[test]
fn neighbouring_bytes_do_not_race() {
    // Every thread reads and writes a byte, then a half, of its own.
    let body = "cvt.u64.u32 %rd4, %r1; add.u64 %rd5, %rd1, %rd4; add.u32 %r7, %r2, %r1;
ld.global.u8 %r4, [%rd5]; add.u32 %r4, %r4, 1; st.global.u8 [%rd5], %r4; ld.global.u8 %r5, [%rd5]; st.global.u8 [%rd5], %r4;
st.shared.u8 [%r7], %r4; ld.shared.u8 %r5, [%r7]; add.u32 %r5, %r5, 2; st.shared.u8 [%r7], %r5;";
    let bench = kernel(body);
    let data = bench.buffer(&[1_u8; 64]);
    bench.run("k", &Grid::linear(1, 64), &[Arg::U64(data)]);
    assert_eq!(bench.read::<u8>(data, 64), [2; 64]);
    // All read the first byte, and one writes it.
    let body = "ld.global.u8 %r4, [%rd1]; setp.eq.u32 %p1, %r1, 63; @%p1 st.global.u8 [%rd1], 9;";
    let bench = kernel(body);
    let data = bench.buffer(&[1_u8; 64]);
    let fault = bench.fault("k", &Grid::linear(1, 64), &[Arg::U64(data)]);
    assert!(matches!(fault.kind, FaultKind::Race { write: true, other_write: false, .. }), "{fault}");
}

#[test]
fn a_list_of_arguments_at_any_address_prints_zeros() {
    let bench = Bench::new(
        ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);
.global .b8 text[7] = {37, 108, 100, 32, 37, 100, 0};
.visible .entry k() { .reg .b64 %rd<4>;
mov.u64 %rd1, text; cvta.global.u64 %rd1, %rd1; mov.u64 %rd2, -1;
{ .param .b64 p; st.param.b64 [p], %rd1; .param .b64 q; st.param.b64 [q], %rd2; .param .b32 d;
call.uni (d), vprintf, (p, q); }
ret; }",
    );
    bench.run("k", &Grid::linear(1, 1), &[]);
    assert_eq!(bench.device.take_output(), "0 0");
}

/// What many read at once, one may not write: the reads of a word by all lanes, by another warp, and by one lane again.
#[test]
fn one_writes_what_many_read() {
    for (reads, writer) in [
        ("ld.shared.u32 %r4, [tile];", 0),
        ("ld.shared.u32 %r4, [tile];", 40),
        ("setp.lt.u32 %p2, %r1, 32; @%p2 ld.shared.u32 %r4, [tile];", 40),
        ("setp.eq.u32 %p2, %r1, 7; @%p2 ld.shared.u32 %r4, [tile];", 8),
        ("ld.shared.v4.u32 {%r4, %r5, %r6, %r7}, [tile];", 63),
    ] {
        for (wait, races) in [("", true), ("bar.sync 0;", false)] {
            let body = format!(
                "setp.lt.u32 %p1, %r1, 16; @%p1 st.shared.u32 [%r3], %r1; bar.sync 0; {reads} {wait}
setp.eq.u32 %p3, %r1, {writer}; @%p3 st.shared.u32 [tile], 99;"
            );
            let result = kernel(&body).try_run("k", &Grid::linear(1, 64), &[Arg::U64(0)]);
            let found =
                matches!(&result, Err(LaunchError::Fault(fault)) if matches!(fault.kind, FaultKind::Race { .. }));
            assert_eq!(found, races, "{body}: {result:?}");
        }
    }
    // The only reader may write.
    kernel("st.shared.u32 [%r3], 1; ld.shared.u32 %r4, [%r3]; st.shared.u32 [%r3], %r4;").run(
        "k",
        &Grid::linear(1, 64),
        &[Arg::U64(0)],
    );
    // Of global memory too.
    for (wait, races) in [("", true), ("bar.sync 0;", false)] {
        let bench = kernel(&format!(
            "ld.global.u32 %r4, [%rd1]; {wait}
setp.eq.u32 %p3, %r1, 40; @%p3 st.global.u32 [%rd1], 99;"
        ));
        let result = bench.try_run("k", &Grid::linear(1, 64), &[Arg::U64(bench.buffer(&[0_u32; 8]))]);
        assert_eq!(result.is_err(), races, "{result:?}");
    }
}
