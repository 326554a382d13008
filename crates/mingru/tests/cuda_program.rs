//! The example `cuda_graph`, with a driver and without.
#![cfg(feature = "cuda")]

#[test]
fn the_program_finds_the_cpus_bits() {
    let output = test_support::example("cuda_graph").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    let lines: Vec<_> = text.lines().skip(1).collect();
    let replays = ["replay 1: the CPU's bits", "replay 2: the CPU's bits", "replay 3: the CPU's bits"];
    assert_eq!(lines, [&["recorded 14 operations"][..], &replays].concat(), "{text}");
}

#[test]
fn without_a_driver_it_says_so_and_fails() {
    test_support::assert_misses_driver("cuda_graph", tempfile::tempdir().unwrap().path());
}
