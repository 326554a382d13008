//! A machine without a driver, or with one that has nothing.
#![cfg(feature = "cuda")]

use gpu::cust::{self, sys::CUresult};
use gpu::{Device, DriverError, Error};
use std::fs;

#[test]
fn a_program_starts_without_a_driver_and_says_what_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    // Found before any real one, and no library.
    fs::write(folder.path().join("libcuda.so.1"), "no library").unwrap();
    test_support::run_apart("child_without_a_driver", |command| command.env("LD_LIBRARY_PATH", folder.path()));
}

#[test]
#[ignore = "run by the test above"]
fn child_without_a_driver() {
    for _ in 0..2 {
        let error = Device::new(0).unwrap_err();
        assert!(matches!(&error, Error::NoDriver { reason } if reason.contains("libcuda.so.1")), "{error:?}");
        assert!(error.to_string().starts_with("there is no CUDA driver on this machine: "), "{error}");
        assert_eq!(Device::count().unwrap_err(), error);
    }
    // Also those who call the driver themselves get an error.
    let code = cust::init(cust::CudaFlags::empty()).unwrap_err();
    assert_eq!(code as i32, CUresult::CUDA_ERROR_SHARED_OBJECT_INIT_FAILED as i32);
    let error = DriverError { call: "cuInit", code: CUresult::CUDA_ERROR_SHARED_OBJECT_INIT_FAILED };
    assert_eq!(error.to_string(), "cuInit: CUDA_ERROR_SHARED_OBJECT_INIT_FAILED");
}

#[test]
fn a_driver_that_lacks_functions_is_an_error_too() {
    // Some library that every Rust program has loaded.
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    let other =
        maps.lines().filter_map(|line| line.find('/').map(|at| &line[at..])).find(|path| path.contains("libgcc_s"));
    let folder = tempfile::tempdir().unwrap();
    fs::copy(other.unwrap(), folder.path().join("libcuda.so.1")).unwrap();
    test_support::run_apart("child_with_an_empty_driver", |command| command.env("LD_LIBRARY_PATH", folder.path()));
}

#[test]
#[ignore = "run by the test above"]
fn child_with_an_empty_driver() {
    let code = CUresult::CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND;
    assert_eq!(Device::new(0).unwrap_err(), Error::Driver(DriverError { call: "cuInit", code }));
}

#[test]
fn a_device_that_there_is_not() {
    let count = Device::count().unwrap();
    let error = Device::new(count).unwrap_err();
    assert_eq!(error, Error::NoDevice { ordinal: count, count });
    assert_eq!(error.to_string(), format!("there is no CUDA device {count}; the driver has {count}"));
}
