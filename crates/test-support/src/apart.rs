//! Tests in processes of their own.

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
