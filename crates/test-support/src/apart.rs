//! Tests in processes of their own, and examples.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// Runs the ignored test `name` of this file in a process of its own, prepared by `prepare`.
///
/// # Panics
/// If it fails, or there is no such test.
pub fn run_apart(name: &str, prepare: impl FnOnce(&mut Command) -> &mut Command) -> Output {
    let mut command = Command::new(std::env::current_exe().expect("a test runs from a file"));
    let command = prepare(command.args(["--exact", name, "--ignored", "--nocapture"]));
    let output = command.output().expect("a test can be run again");
    let [stdout, stderr] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    assert!(output.status.success(), "{name}:\n{stdout}\n{stderr}");
    assert!(stdout.contains("1 passed"), "there is no test {name}");
    output
}

/// The example `name` of the test's package, which `cargo test` has built beside the test.
///
/// # Panics
/// If the test doesn't lie where cargo puts it.
pub fn example(name: &str) -> Command {
    let test = std::env::current_exe().expect("a test runs from a file");
    let folder = test.ancestors().nth(2).expect("cargo puts tests into a folder of its target folder");
    Command::new(folder.join("examples").join(format!("{name}{}", std::env::consts::EXE_SUFFIX)))
}

/// Asserts that the example `name` ends with an error if the only CUDA driver it finds is no library.
///
/// # Panics
/// If it doesn't.
pub fn assert_misses_driver(name: &str, folder: &Path) {
    // Found before any real one, and no library.
    fs::write(folder.join("libcuda.so.1"), "no library").expect("the folder can be written to");
    let output = example(name).env("LD_LIBRARY_PATH", folder).output().expect("the example can be run");
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.starts_with("there is no CUDA driver on this machine: ") && text.contains("libcuda.so.1"), "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
}
