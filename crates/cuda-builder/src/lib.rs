//! Builds crates of CUDA kernels written in Rust to PTX.
//!
//! [`CudaBuilder`] has the interface of Rust-CUDA's builder of the same name. It needs no compiler of its own: any
//! `rustc` since 1.94 with the source of `core` and the LLVM tools of its version will do ([`Toolchain`]), and the error
//! of a machine that has none says what to install. Nothing on the way depends on where the crate lies, so the same
//! sources give the same bytes of PTX.
//!
//! ```no_run
//! use cuda_builder::{Arch, CudaBuilder};
//!
//! // In a build script; `kernels` is a no_std crate with functions of `extern "ptx-kernel"`.
//! let ptx = CudaBuilder::new("kernels").arch(Arch::Sm80).copy_to("kernels.ptx").build()?;
//! ptx.print_rerun_if_changed();
//! # Ok::<(), cuda_builder::Error>(())
//! ```
//!
//! * [`Toolchain`]: finds the compiler; [`Ptxas`]: NVIDIA's assembler, which tells what kernels cost;
//! * [`CudaBuilder`]: cargo compiles the crate to LLVM bitcode, which is linked, optimised as a whole and translated;
//! * [`ptx`]: what a text of PTX holds;
//! * [`manifest`]: a file that says where committed PTX comes from.

mod arch;
mod archive;
mod builder;
mod cargo;
mod error;
mod identities;
mod link;
pub mod manifest;
mod process;
pub mod ptx;
mod ptxas;
mod sources;
mod toolchain;

pub use arch::{Arch, UnknownArch};
pub use builder::{CudaBuilder, Ptx};
pub use error::{Error, INSTALL_PTXAS, INSTALL_TOOLCHAIN, Reason, Rejected};
pub use ptxas::{Cost, Ptxas};
pub use toolchain::{Llvm, Rustc, Toolchain};
