//! Tables of counters on stderr. The tests run this program again, with the variable set.

mod common;

use std::process::Command;

use common::*;

/// Set in the program that the tests run.
const CHILD: &str = "LOCKSTEP_EMU_TEST_CHILD";

/// What [`three_launches`] writes to stderr.
fn stderr(counters: &str) -> String {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "three_launches", "--nocapture"])
        .env(CHILD, "1")
        .env("LOCKSTEP_EMU_COUNTERS", counters)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn three_launches() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    let gpu = Gpu::new();
    let function = gpu.function("add");
    let buffers = [upload(&[1; 40]), upload(&[2; 40]), upload(&[0; 40])];
    for n in [40, 40, 20] {
        ok(add(function, 0, buffers, n));
    }
}

/// Values of a line of each table.
fn values(text: &str, name: &str) -> Vec<u64> {
    let lines = text.lines().filter_map(|line| line.strip_prefix(name));
    lines.map(|value| value.trim().parse().unwrap()).collect()
}

#[test]
fn of_each_launch() {
    let text = stderr("launches");
    assert_eq!(text.matches("cuda-emu: `add`, blocks [1, 1, 1], threads [64, 1, 1], 0 bytes\n").count(), 3, "{text}");
    assert_eq!(values(&text, "global load requests"), [4, 4, 2]);
    assert_eq!(values(&text, "global load bytes"), [320, 320, 160]);
}

#[test]
fn of_each_kernel_when_the_context_ends() {
    let text = stderr("kernels");
    assert!(text.contains("cuda-emu: `add`, 3 launches\n"), "{text}");
    assert_eq!(values(&text, "global load requests"), [10]);
    assert_eq!(values(&text, "blocks"), [3]);
    // A warp runs all 19 instructions in each launch: a maximum, not a sum.
    assert_eq!(values(&text, "  of the longest warp"), [19]);
    assert_eq!(stderr("none"), "");
}
