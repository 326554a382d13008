//! The example `cuda_graph`, with a driver and without.
#![cfg(feature = "cuda")]

use std::fs;
use std::process::Command;

/// The program that `cargo test` built beside this test.
fn program() -> Command {
    let test = std::env::current_exe().unwrap();
    let folder = test.parent().unwrap().parent().unwrap();
    Command::new(folder.join("examples/cuda_graph"))
}

#[test]
fn the_program_finds_the_cpus_bits() {
    let output = program().output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    let lines: Vec<_> = text.lines().skip(1).collect();
    let replays = ["replay 1: the CPU's bits", "replay 2: the CPU's bits", "replay 3: the CPU's bits"];
    assert_eq!(lines, [&["recorded 14 operations"][..], &replays].concat(), "{text}");
}

#[test]
fn without_a_driver_it_says_so_and_fails() {
    let folder = tempfile::tempdir().unwrap();
    // Found before any real one, and no library.
    fs::write(folder.path().join("libcuda.so.1"), "no library").unwrap();
    let output = program().env("LD_LIBRARY_PATH", folder.path()).output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.starts_with("there is no CUDA driver on this machine: ") && text.contains("libcuda.so.1"), "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
}
