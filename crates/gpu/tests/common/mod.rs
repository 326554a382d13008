//! What the tests on a device share. They run on any driver: an emulated one finds more faults.
#![allow(dead_code, reason = "no test uses all of it")]

use gpu::{Device, Stream};

/// A stream of the first device.
pub(crate) fn stream() -> Stream {
    let device = Device::new(0).unwrap_or_else(|error| panic!("{error}; `cargo xtask test` brings a driver along"));
    device.stream().unwrap()
}

/// Whether the driver emulates its device.
pub(crate) fn is_emulated(device: &Device) -> bool {
    device.name().unwrap().contains("emulated")
}
