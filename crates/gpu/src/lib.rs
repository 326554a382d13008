//! Host side of CUDA: devices, streams, buffers, the kernels of `kernels-gpu` with launches checked on the host, graphs.
//!
//! Everything is behind the feature `cuda`; without it the crate is empty. A program built with it needs no CUDA to be
//! linked or to start: the driver is looked for when the first [`Device`] is asked for, and where there is none the answer
//! is [`Error::NoDriver`].
//!
//! # Building
//! `cust` isn't compiled without a CUDA toolkit, or what looks like one: otherwise its build stops at "Could not find a cuda
//! installation". Inside the repository cargo's configuration sees to that. A program elsewhere, on a machine without a
//! toolkit, needs an empty libcuda:
//!
//! ```text
//! mkdir -p cuda/lib64 && ar rc cuda/lib64/libcuda.a
//! ```
//!
//! and in its `.cargo/config.toml`
//!
//! ```toml
//! [env]
//! CUDA_LIBRARY_PATH = { value = "cuda", relative = true }
//! ```
//!
//! # Overview
//! ```text
//! Device    a GPU's primary context; cheap to clone, any thread may use it
//! Stream    work in order; every operation names its stream
//! Buffer    memory of a device, typed; View and ViewMut are parts of it, borrowed as slices are
//! kernels   a struct for each kernel, with its arguments by name
//! Graph     a recording of a stream's work, replayed with one call
//! ```
//!
//! # Launches
//! A kernel's struct says which arrays of which lengths it reads and writes, in which range its numbers lie, and how many
//! threads it needs. [`Stream::launch`] checks all of that and refuses by a [`LaunchError`] before anything is submitted.
//! A missing or wrong argument doesn't compile, and borrows keep outputs apart from inputs.
//!
//! # Order
//! Work of one stream runs in order; work of two streams doesn't, unless one waits for an [`Event`] of the other.
//! Operations borrow their buffers only while they are submitted: two streams that use a buffer without an event between
//! them race, which gives wrong values but nothing worse. Copies to and from the host's slices end before they return.
//! Memory is freed after all work that could use it.
//!
//! # Example
//! ```no_run
//! use gpu::kernels::random::FillUniform;
//! use gpu::{Buffer, Device, Graph};
//!
//! let device = Device::new(0)?;
//! let stream = device.stream()?;
//! let mut draws = Buffer::<f32>::zeroed(&stream, 1000)?;
//! let graph = Graph::capture(&stream, |stream| {
//!     stream.launch(&FillUniform { seed: 1, stream: 2, first: 0, out: draws.view_mut(), n: 1000 })
//! })?;
//! graph.launch(&stream)?;
//! let draws = draws.to_vec(&stream)?;
//! # Ok::<(), gpu::Error>(())
//! ```
#![cfg(feature = "cuda")]

#[cfg(not(target_os = "linux"))]
compile_error!("feature `cuda` of lockstep-gpu is for Linux");

mod buffer;
mod contract;
mod device;
mod driver;
mod error;
mod event;
mod graph;
pub mod kernels;
mod launch;
mod memory;
mod modules;
mod pinned;
mod stream;
mod view;

pub use buffer::Buffer;
pub use bytemuck::Pod;
pub use contract::{Block, Contract, Geometry, Kind, LaunchError, Limits, Parameter, Work};
pub use cust;
pub use device::Device;
pub use driver::{DriverError, forwarded};
pub use error::Error;
pub use event::Event;
pub use graph::Graph;
pub use half::bf16;
pub use launch::{Call, Checked, Kernel};
pub use pinned::{Pinned, Transfer};
pub use stream::Stream;
pub use view::{View, ViewMut};

/// The lock, also after a panic of another thread: what it guards is never left half changed.
fn lock<T>(mutex: &std::sync::Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// As [`lock`], beside others that read.
fn read<T>(guarded: &std::sync::RwLock<T>) -> std::sync::RwLockReadGuard<'_, T> {
    guarded.read().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// As [`lock`].
fn write<T>(guarded: &std::sync::RwLock<T>) -> std::sync::RwLockWriteGuard<'_, T> {
    guarded.write().unwrap_or_else(std::sync::PoisonError::into_inner)
}
