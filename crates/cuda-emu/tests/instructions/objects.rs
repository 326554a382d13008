//! Barriers that are objects, bulk copies, the stack.

use crate::common::{Arg, Bench};
use cuda_emu::{Counters, FaultKind, Grid};

/// A kernel with a barrier at `%r2`, the thread in `%r1`, its word of the output at `%rd1`; `%r3` goes there.
fn bench(body: &str) -> Bench {
    Bench::new(&format!(
        ".visible .entry k(.param .u64 out) {{ .reg .pred %p<6>; .reg .b32 %r<20>; .reg .b64 %rd<20>;
.shared .align 16 .b8 tile[1024]; .shared .align 8 .b64 bar; ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4;
add.u64 %rd1, %rd1, %rd2; mov.u32 %r2, bar; mov.u32 %r3, 0; setp.eq.u32 %p1, %r1, 0; mov.u32 %r4, tile;
{body}
st.global.u32 [%rd1], %r3; ret; }}"
    ))
}

fn run(body: &str, threads: u32) -> (Vec<u32>, Counters) {
    let bench = bench(body);
    let out = bench.buffer(&vec![0xffff_u32; threads as usize]);
    let counters = bench.run("k", &Grid::linear(1, threads), &[Arg::U64(out)]);
    (bench.read(out, threads as usize), counters)
}

#[test]
fn phases_end_with_the_last_arrival() {
    // One thread, three arrivals; the outcome of waits for the first phase by its state and by parity, as bits.
    let body = "mbarrier.init.shared::cta.b64 [%r2], 3;
mbarrier.arrive.shared.b64 %rd3, [%r2];
mbarrier.pending_count.b64 %r5, %rd3; shl.b32 %r3, %r5, 8;
mbarrier.test_wait.shared.b64 %p2, [%r2], %rd3; @%p2 or.b32 %r3, %r3, 1;
mbarrier.test_wait.parity.shared.b64 %p2, [%r2], 0; @%p2 or.b32 %r3, %r3, 2;
mbarrier.test_wait.parity.shared.b64 %p2, [%r2], 1; @%p2 or.b32 %r3, %r3, 4;
mbarrier.arrive.release.cta.shared::cta.b64 %rd4, [%r2], 2;
mbarrier.try_wait.shared::cta.b64 %p2, [%r2], %rd3; @%p2 or.b32 %r3, %r3, 8;
mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p2, [%r2], 0; @%p2 or.b32 %r3, %r3, 16;
mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2], 1, 1000; @%p2 or.b32 %r3, %r3, 32;
mbarrier.arrive_drop.shared.b64 %rd5, [%r2]; mbarrier.arrive_drop.shared.b64 %rd5, [%r2];
mbarrier.arrive.noComplete.shared.b64 %rd6, [%r2], 0; mbarrier.pending_count.b64 %r5, %rd6; shl.b32 %r5, %r5, 12; or.b32 %r3, %r3, %r5;
mbarrier.arrive.shared.b64 %rd6, [%r2];
mbarrier.arrive.shared.b64 _, [%r2]; mbarrier.test_wait.parity.shared.b64 %p2, [%r2], 0; @%p2 or.b32 %r3, %r3, 64;
mbarrier.inval.shared.b64 [%r2];";
    // Of the first phase 3 arrivals are missing at first. In the second one is left after two have dropped; the third
    // phase needs one.
    assert_eq!(run(body, 1).0, [0x1300 | 4 | 8 | 16 | 64]);
}

#[test]
fn bytes_are_waited_for() {
    let body = "@!%p1 bra start; mbarrier.init.shared.b64 [%r2], 1; fence.mbarrier_init.release.cluster;
start: bar.sync 0; @!%p1 bra wait;
mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 128; sub.u64 %rd3, %rd1, %rd2;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r4], [%rd3], 64, [%r2];
mbarrier.test_wait.parity.shared.b64 %p2, [%r2], 0; @%p2 trap;
add.u64 %rd3, %rd3, 64; cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r4+64], [%rd3], 64, [%r2];
wait: mbarrier.try_wait.parity.shared.b64 %p2, [%r2], 0; @!%p2 bra wait;
mad.lo.u32 %r5, %r1, 4, %r4; ld.shared.u32 %r3, [%r5]; bar.sync 0;
add.u32 %r3, %r3, %r1; st.shared.u32 [%r5], %r3; fence.proxy.async.shared::cta; bar.sync 0; @!%p1 bra done; sub.u64 %rd3, %rd1, %rd2;
cp.async.bulk.global.shared::cta.bulk_group [%rd3], [%r4], 128; cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;
done: bar.sync 0; ld.global.u32 %r3, [%rd1];";
    assert_eq!(run(body, 32).0, (0..32).map(|i| 0xffff + i).collect::<Vec<u32>>());
}

#[test]
fn barriers_order_what_warps_do() {
    let body = |wait: &str| {
        format!(
            "@%p1 mbarrier.init.shared.b64 [%r2], 96; bar.sync 0; mad.lo.u32 %r5, %r1, 4, %r4; st.shared.u32 [%r5], %r1;
mbarrier.arrive.shared.b64 %rd3, [%r2]; {wait}
mov.u32 %r6, 95; sub.u32 %r6, %r6, %r1; mad.lo.u32 %r6, %r6, 4, %r4; ld.shared.u32 %r3, [%r6];"
        )
    };
    let wait = "wait: mbarrier.try_wait.shared.b64 %p2, [%r2], %rd3; @!%p2 bra wait;";
    assert_eq!(run(&body(wait), 96).0, (0..96).rev().collect::<Vec<u32>>());
    // Who only looks once has learned nothing.
    let bench = bench(&body("mbarrier.test_wait.shared.b64 %p2, [%r2], %rd3;"));
    let out = bench.buffer(&[0_u32; 96]);
    let fault = bench.fault("k", &Grid::linear(1, 96), &[Arg::U64(out)]);
    assert!(matches!(fault.kind, FaultKind::Race { .. }), "{fault}");
}

#[test]
fn counts_that_are_not_possible() {
    for (body, operand) in [
        ("mbarrier.init.shared.b64 [%r2], 0;", 0),
        ("mbarrier.init.shared.b64 [%r2], 0x100000;", 0x10_0000),
        ("mbarrier.arrive.shared.b64 %rd3, [%r2];", 1),
        ("mbarrier.init.shared.b64 [%r2], 2; mbarrier.arrive.shared.b64 %rd3, [%r2], 3;", 3),
        (
            "mbarrier.init.shared.b64 [%r2], 2; mbarrier.inval.shared.b64 [%r2]; mbarrier.test_wait.parity.shared.b64 %p2, [%r2], 1;",
            1,
        ),
        ("mbarrier.init.shared.b64 [%r2], 2; mbarrier.expect_tx.relaxed.cta.shared.b64 [%r2], 0x100000;", 0x10_0000),
    ] {
        let bench = bench(body);
        let fault = bench.fault("k", &Grid::linear(1, 1), &[Arg::U64(bench.buffer(&[0_u32]))]);
        assert_eq!(fault.kind, FaultKind::BadBarrierObject { operand }, "{body}");
    }
}

#[test]
fn the_stack_grows_and_shrinks() {
    // A loop that would take 16 MiB if it didn't give back what it took.
    let body = "mov.u32 %r5, 0; mad.lo.u32 %r6, %r1, 16, 16; cvt.u64.u32 %rd6, %r6;
again: stacksave.u64 %rd3; alloca.u64 %rd4, %rd6, 64; and.b64 %rd5, %rd4, 63; setp.ne.u64 %p2, %rd5, 0; @%p2 trap;
add.u64 %rd7, %rd4, %rd6; st.local.u32 [%rd4], %r5; st.local.u32 [%rd7+-4], %r5; ld.local.u32 %r7, [%rd4]; add.u32 %r3, %r3, %r7;
stackrestore.u64 %rd3; add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, 1000; @%p2 bra again;";
    assert_eq!(run(body, 32).0, [499_500; 32]);
    let without = body.replace("stackrestore.u64 %rd3;", "").replace("1000", "10000");
    let bench = bench(&without);
    let fault = bench.fault("k", &Grid::linear(1, 32), &[Arg::U64(bench.buffer(&[0_u32; 32]))]);
    assert_eq!(fault.kind, FaultKind::StackOverflow);
    let beyond = self::bench("alloca.u64 %rd4, 16, 8; st.local.u32 [%rd4+16], %r1;");
    let fault = beyond.fault("k", &Grid::linear(1, 1), &[Arg::U64(beyond.buffer(&[0_u32]))]);
    assert_eq!(fault.kind, FaultKind::OutOfBounds { bytes: 4 });
}

#[test]
fn clusters_of_one_block_and_hints() {
    let body = "barrier.cluster.arrive.release.aligned; mad.lo.u32 %r5, %r1, 4, %r4; st.shared.u32 [%r5], %r1; barrier.cluster.wait.acquire.aligned;
xor.b32 %r6, %r1, 32; mad.lo.u32 %r6, %r6, 4, %r4; mapa.shared::cluster.u32 %r7, %r6, 0; ld.shared::cluster.u32 %r3, [%r7];
getctarank.shared::cluster.u32 %r8, %r7; add.u32 %r3, %r3, %r8; mov.u32 %r8, %cluster_nctarank; add.u32 %r3, %r3, %r8;
griddepcontrol.wait; griddepcontrol.launch_dependents; setmaxnreg.inc.sync.aligned.u32 64;
createpolicy.fractional.L2::evict_first.b64 %rd4, 0f3F800000; ld.global.L2::cache_hint.u32 %r9, [%rd1], %rd4; prefetch.global.L2::evict_last [%rd1]; discard.global.L2 [%rd1], 128; applypriority.global.L2::evict_normal [%rd1], 128;";
    assert_eq!(run(body, 64).0, (0..64).map(|i| (i ^ 32) + 1).collect::<Vec<u32>>());
}
