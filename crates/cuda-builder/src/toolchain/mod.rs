//! Compilers that can build kernels.
//!
//! A usable one has three parts that fit together: a `rustc` new enough for `extern "ptx-kernel"`, the source of `core`
//! in its sysroot, and the LLVM tools of its LLVM's version. Any channel serves: unstable features are unlocked with
//! `RUSTC_BOOTSTRAP`.

mod llvm;
mod rustc;
#[cfg(test)]
mod tests;

pub use llvm::Llvm;
pub use rustc::Rustc;

use crate::error::{Error, Reason, Rejected};
use std::env;
use std::path::PathBuf;

/// A compiler with all that it needs to build kernels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Toolchain {
    /// The compiler.
    pub rustc: Rustc,
    /// The tools that link, optimise and translate its bitcode.
    pub llvm: Llvm,
}

impl Toolchain {
    /// The first of [`find_all`](Self::find_all).
    ///
    /// # Errors
    /// [`Error::NoToolchain`], which says what to install.
    pub fn find() -> Result<Self, Error> {
        let (found, rejected) = Self::find_all();
        found.into_iter().next().ok_or(Error::NoToolchain { rejected })
    }

    /// All usable toolchains, the preferred first, and what the others lack.
    ///
    /// Looked at are, in this order: `CUDA_BUILDER_RUSTC` (then nothing else is), the `rustc` of the path, `/usr/bin/rustc`,
    /// and the toolchains of rustup by name.
    pub fn find_all() -> (Vec<Self>, Vec<Rejected>) {
        let (mut found, mut rejected) = (Vec::<Self>::new(), Vec::new());
        let folder = env::var_os("CUDA_BUILDER_LLVM").map(PathBuf::from);
        for rustc in rustc::candidates() {
            match Self::of(rustc.clone(), folder.as_ref()) {
                Ok(toolchain) if found.iter().any(|other| other.rustc.sysroot == toolchain.rustc.sysroot) => {}
                Ok(toolchain) => found.push(toolchain),
                Err(reason) => rejected.push(Rejected { rustc, reason }),
            }
        }
        (found, rejected)
    }

    /// The toolchain of one compiler. `folder`: of the LLVM tools, before those where they are looked for otherwise.
    ///
    /// # Errors
    /// What it lacks.
    pub fn of(rustc: PathBuf, folder: Option<&PathBuf>) -> Result<Self, Reason> {
        let rustc = Rustc::ask(rustc)?;
        rustc.check()?;
        let llvm = Llvm::find(&rustc, folder)?;
        Ok(Self { rustc, llvm })
    }
}
