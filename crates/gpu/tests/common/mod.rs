//! What the tests on a device share. They run on any driver: an emulated one finds more faults.
#![allow(dead_code, reason = "no test uses all of it")]

use gpu::{Device, Stream};
use std::process::{Command, Output};

/// A stream of the first device.
pub(crate) fn stream() -> Stream {
    let device = Device::new(0).unwrap_or_else(|error| panic!("{error}; `cargo xtask test` brings a driver along"));
    device.stream().unwrap()
}

/// Whether the driver emulates its device.
pub(crate) fn is_emulated(device: &Device) -> bool {
    device.name().unwrap().contains("emulated")
}

/// Runs the ignored test `name` of this file in a process of its own, prepared by `prepare`; it must pass.
pub(crate) fn run_apart(name: &str, prepare: impl FnOnce(&mut Command) -> &mut Command) -> Output {
    let mut command = Command::new(std::env::current_exe().unwrap());
    let output = prepare(command.args(["--exact", name, "--ignored", "--nocapture"])).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{name}:\n{}\n{}", text(&output.stdout), text(&output.stderr));
    assert!(text(&output.stdout).contains("1 passed"), "there is no test {name}");
    output
}
