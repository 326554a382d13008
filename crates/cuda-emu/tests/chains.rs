//! The longest chain of instructions that need each other, against chains that one can count by hand.

mod common;

use common::{Arg, Bench};
use cuda_emu::{Chains, Checks, Counters, Grid};

/// Runs a body whose registers are declared, with `data` in `%rd1`; its first two instructions are a chain of 2, the last one
/// is `ret`.
fn run(blocks: u32, threads: u32, body: &str) -> Counters {
    run_with(Chains::NEEDS, blocks, threads, body)
}

fn run_with(chains: Chains, blocks: u32, threads: u32, body: &str) -> Counters {
    let mut bench = Bench::new(&format!(
        ".func (.reg .u32 %out) twice(.reg .u32 %in) {{ add.u32 %out, %in, %in; ret; }}
         .visible .entry kernel(.param .u64 data) {{
             .reg .b32 %r<20>; .reg .b64 %rd<10>; .reg .b16 %h<4>; .reg .pred %p<4>;
             .shared .align 8 .b8 tile[512]; .local .align 8 .b8 own[64];
             ld.param.u64 %rd1, [data];
             cvta.to.global.u64 %rd2, %rd1;
             {body}
             ret;
         }}"
    ))
    .threads(1)
    .checks(Checks::NONE);
    bench.options.chains = Some(chains);
    let data = bench.buffer(&[0_u32; 256]);
    bench.run("kernel", &Grid::linear(blocks, threads), &[Arg::U64(data)])
}

fn chain(body: &str) -> u64 {
    run(1, 32, body).longest_chain
}

#[test]
fn values_in_registers() {
    let independent = "mov.u32 %r1, 1; mov.u32 %r2, 2; mov.u32 %r3, 3; mov.u32 %r4, 4;";
    assert_eq!(chain(independent), 2);
    let one_after_the_other = "mov.u32 %r1, 1; add.u32 %r1, %r1, 1; add.u32 %r2, %r1, 1; add.u32 %r3, %r2, %r1;";
    assert_eq!(chain(one_after_the_other), 4);
    let in_a_tree = "mov.u32 %r1, 1; mov.u32 %r2, 2; mov.u32 %r3, 3; mov.u32 %r4, 4;
        add.u32 %r1, %r1, %r2; add.u32 %r3, %r3, %r4; add.u32 %r1, %r1, %r3;";
    assert_eq!(chain(in_a_tree), 3);
    // A register that is written anew doesn't keep its chain.
    let anew = "mov.u32 %r1, 1; add.u32 %r1, %r1, 1; add.u32 %r1, %r1, 1; mov.u32 %r1, 1; add.u32 %r2, %r1, 1;";
    assert_eq!(chain(anew), 3);
    // A third and a fourth source, and what a carry tells.
    assert_eq!(chain("mov.u32 %r1, 1; add.u32 %r1, %r1, 1; add.u32 %r1, %r1, 1; mad.lo.u32 %r2, 1, 1, %r1;"), 4);
    assert_eq!(chain("mov.u32 %r1, 1; add.u32 %r1, %r1, 1; add.cc.u32 %r2, %r1, 1; addc.u32 %r3, 0, 0;"), 4);
    assert_eq!(
        chain("mov.u32 %r1, 1; add.u32 %r1, %r1, 1; shfl.sync.idx.b32 %r2, %r1, 0, 31, -1; not.b32 %r3, %r2;"),
        4
    );
}

#[test]
fn guards() {
    let long = "mov.u32 %r1, %tid.x; add.u32 %r1, %r1, 1; setp.gt.u32 %p1, %r1, 16;";
    assert_eq!(chain(long), 3);
    assert_eq!(chain(&format!("{long} @%p1 mov.u32 %r2, 1; add.u32 %r3, %r2, 1;")), 5);
    // Also when no lane takes part; and lanes that don't keep what they had.
    assert_eq!(chain("mov.u32 %r1, 9; setp.gt.u32 %p1, %r1, 16; @%p1 mov.u32 %r2, 1; add.u32 %r3, %r2, 1;"), 4);
    assert_eq!(
        chain(
            "mov.u32 %r1, %tid.x; setp.gt.u32 %p1, %r1, 16; mov.u32 %r2, 1; add.u32 %r2, %r2, 1; add.u32 %r2, %r2, 1;
            add.u32 %r2, %r2, 1; @%p1 mov.u32 %r2, 1; add.u32 %r3, %r2, 1;"
        ),
        5
    );
}

#[test]
fn branches_hold_up_what_follows() {
    // 10 times add, setp, bra, each of which needs the one before. The last mov waits for the branch.
    let lp = "mov.u32 %r1, 0; L: mov.u32 %r5, 7; add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 10; @%p1 bra L;";
    assert_eq!(chain(lp), 1 + 30 + 1);
    assert_eq!(chain(&format!("{lp} mov.u32 %r6, 1; add.u32 %r6, %r6, 1;")), 1 + 30 + 2);
    // Whichever lanes go where.
    let parted = "mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 10; @%p1 bra L; mov.u32 %r2, 1; L: mov.u32 %r3, 1;";
    assert_eq!(chain(parted), 4);
    // One without a guard is known before.
    assert_eq!(chain("bra L; L: mov.u32 %r3, 1; bra M; M: mov.u32 %r2, 1;"), 2);
}

#[test]
fn values_in_memory() {
    // st, ld, add after the two instructions that give the address.
    assert_eq!(chain("mov.u32 %r1, 5; st.global.u32 [%rd2], %r1; ld.global.u32 %r2, [%rd2]; add.u32 %r3, %r2, 1;"), 5);
    // Of another place.
    assert_eq!(
        chain("mov.u32 %r1, 5; st.global.u32 [%rd2], %r1; ld.global.u32 %r2, [%rd2+64]; add.u32 %r3, %r2, 1;"),
        4
    );
    for space in ["shared", "local"] {
        let place = if space == "shared" { "tile" } else { "own" };
        let stored = format!("mov.u32 %r1, 5; add.u32 %r1, %r1, 1; st.{space}.u32 [{place}], %r1;");
        assert_eq!(chain(&format!("{stored} ld.{space}.u32 %r2, [{place}]; add.u32 %r3, %r2, 1;")), 5, "{space}");
        assert_eq!(chain(&format!("{stored} ld.{space}.u16 %h1, [{place}+2]; not.b16 %h1, %h1;")), 5, "{space}");
        assert_eq!(chain(&format!("{stored} ld.{space}.u8 %h1, [{place}+3]; not.b16 %h1, %h1;")), 5, "{space}");
        let anew = format!("{stored} mov.u32 %r4, 1; st.{space}.u32 [{place}], %r4; ld.{space}.u32 %r2, [{place}];");
        assert_eq!(chain(&anew), 3, "{space}");
    }
    // An address that is a chain: store and load through a generic one.
    let through =
        "mov.u64 %rd3, tile; cvta.shared.u64 %rd3, %rd3; add.u64 %rd3, %rd3, 8; mov.u32 %r1, 5; st.u32 [%rd3], %r1;
        ld.u32 %r2, [%rd3];";
    assert_eq!(chain(through), 5);
}

#[test]
fn lanes_with_atomics_on_one_word_come_one_after_the_other() {
    let lanes = run(1, 32, "red.shared.add.u32 [tile], 1;").longest_chain;
    assert_eq!(lanes, 32);
    let apart = "mov.u32 %r1, %tid.x; shl.b32 %r1, %r1, 2; mov.u32 %r2, tile; add.u32 %r2, %r2, %r1; red.shared.add.u32 [%r2], 1;";
    assert_eq!(run(1, 32, apart).longest_chain, 4);
    // Across blocks, in global memory: 3 blocks of 64 threads.
    assert_eq!(run(3, 64, "atom.global.add.u32 %r1, [%rd2], 1; add.u32 %r2, %r1, 1;").longest_chain, 2 + 192 + 1);
}

#[test]
fn barriers_wait_for_the_longest() {
    // The second warp waits for the first one's 20 steps of 3 instructions.
    let body = "mov.u32 %r1, %tid.x; setp.gt.u32 %p1, %r1, 31; @%p1 bra B; mov.u32 %r2, 0;
        L: add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, 20; @%p2 bra L;
        B: bar.sync 0; @!%p1 bra E; mov.u32 %r3, 1; add.u32 %r3, %r3, 1; add.u32 %r3, %r3, 1; E:";
    let counters = run(1, 64, body);
    // mov, setp, bra; mov, the loop; bar, bra, and three.
    assert_eq!(counters.longest_chain, 3 + 1 + 60 + 1 + 1 + 3);
    assert!(counters.longest_chain < counters.longest_warp + 3);
    // Who only arrives doesn't wait.
    let arrives = body.replace("bar.sync 0;", "@%p1 bra A; bar.sync 1, 64; bra E; A: bar.arrive 1, 64; ");
    let counters = run(1, 64, &arrives.replace("@!%p1 bra E;", ""));
    // mov, setp, bra; mov, the loop; bra, bar, ret.
    assert_eq!(counters.longest_chain, 3 + 1 + 60 + 3);
}

#[test]
fn values_go_through_functions() {
    let body = "mov.u32 %r1, 5; add.u32 %r1, %r1, 1; call (%r2), twice, (%r1); add.u32 %r3, %r2, 1;";
    assert_eq!(chain(body), 4);
}

#[test]
fn basic_blocks_in_order() {
    let chain = |body: &str| run_with(Chains::CYCLES, 1, 32, body).longest_chain;
    // The address is there after 8 cycles. Loads of one block wait together, and the one sum for both.
    let two = "ld.global.u32 %r1, [%rd2]; ld.global.u32 %r2, [%rd2+128];";
    assert_eq!(chain(&format!("{two} add.u32 %r3, %r1, %r2;")), 8 + 500 + 4);
    assert_eq!(
        chain("ld.global.u32 %r1, [%rd2]; not.b32 %r1, %r1; ld.global.u32 %r2, [%rd2+128]; not.b32 %r2, %r2;"),
        512
    );
    // A branch holds up what follows until everything before it has started: not the second load, but its use.
    let apart = "ld.global.u32 %r1, [%rd2]; bra L; L: ld.global.u32 %r2, [%rd2+128]; add.u32 %r3, %r1, %r2;";
    assert_eq!(chain(apart), 8 + 1 + 500 + 4);
    let in_turn = "ld.global.u32 %r1, [%rd2]; not.b32 %r1, %r1; bra L; L: ld.global.u32 %r2, [%rd2+128];";
    assert_eq!(chain(in_turn), 508 + 1 + 500);
    // One instruction starts a cycle: 2 for the address, 40 and the branch.
    let many = "mov.u32 %r1, 1;".repeat(40);
    assert_eq!(chain(&format!("{many} bra L; L: mov.u32 %r2, 1;")), 2 + 40 + 1 + 4);
    // What goes through memory: to it, and on its way once more.
    let stored = "mov.u32 %r1, 1; st.shared.u32 [tile], %r1; ld.shared.u32 %r2, [tile]; not.b32 %r2, %r2;";
    assert_eq!(chain(stored), 4 + 30 + 4 + 4);
    // Lanes' operations on one word come one after the other there, not one way after the other.
    assert_eq!(chain("red.global.add.u32 [%rd2], 1;"), 8 + 500 + 31 * 4);
}

#[test]
fn only_on_request() {
    let body = "mov.u32 %r1, 1; add.u32 %r1, %r1, 1;";
    let asked = run(1, 32, body);
    assert!(asked.rows().iter().any(|&(name, value)| name.trim() == "of the longest chain" && value == 2));
    let bench = Bench::new(".visible .entry kernel() { .reg .u32 %r1; mov.u32 %r1, 1; ret; }");
    let counters = bench.run("kernel", &Grid::linear(1, 32), &[]);
    assert_eq!(counters.longest_chain, 0);
    assert!(counters.rows().iter().all(|(name, _)| !name.contains("chain")));
    // Without other checks as well, and the counts are the same.
    let mut bench = Bench::new(".visible .entry kernel() { .reg .u32 %r1; mov.u32 %r1, 1; ret; }").checks(Checks::NONE);
    bench.options.chains = Some(Chains::NEEDS);
    assert_eq!(bench.run("kernel", &Grid::linear(1, 32), &[]), Counters { longest_chain: 1, ..counters });
}
