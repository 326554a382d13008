//! The example `cuda_replay`, with a driver and without.
#![cfg(feature = "cuda")]

#[test]
fn the_program_finds_the_cpus_bits() {
    let output = test_support::example("cuda_replay").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    let lines: Vec<_> = text.lines().skip(1).collect();
    // Rows, new items and what follows them; a draw; an update and what follows it.
    assert_eq!(lines[0], "recorded 6 operations", "{text}");
    assert!(lines[1].starts_with("200 steps, 3200 items, total priority "), "{text}");
    assert_eq!(lines[2..], ["all with the CPU's bits"], "{text}");
}

#[test]
fn without_a_driver_it_says_so_and_fails() {
    test_support::assert_misses_driver("cuda_replay", tempfile::tempdir().unwrap().path());
}
