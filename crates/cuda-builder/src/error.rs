//! What can go wrong, with what to do about it.

use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

/// How to get a toolchain; the end of [`Error::NoToolchain`]'s message.
pub const INSTALL_TOOLCHAIN: &str = "\
Install one of:
  * with rustup:
        rustup toolchain install 1.95.0 --profile minimal --component rust-src --component llvm-tools
  * on Debian 12 or newer, without rustup's compiler:
        apt-get update && apt-get install --no-install-recommends rustc-web rust-web-src llvm-22
or set CUDA_BUILDER_RUSTC to the rustc to use; its sysroot must hold the library's source, and the LLVM tools must be
in its sysroot, in /usr/lib/llvm-<version>/bin, or in CUDA_BUILDER_LLVM.";

/// How to get `ptxas`; the end of [`Error::NoPtxas`]'s message.
pub const INSTALL_PTXAS: &str = "\
Install the CUDA toolkit, or nothing but its assembler:
        python3 -m venv target/ptxas && target/ptxas/bin/pip install --no-deps nvidia-cuda-nvcc==13.5.37
and set PTXAS to the program (in the environment above: lib/python3*/site-packages/nvidia/cu13/bin/ptxas).";

/// A compiler that was looked at and can't be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejected {
    /// The compiler.
    pub rustc: PathBuf,
    /// What it lacks.
    pub reason: Reason,
}

/// What a compiler lacks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// It can't be run.
    #[error("it can't be run: {message}")]
    NotRunnable {
        /// The system's message.
        message: String,
    },
    /// `-vV` says something that isn't understood.
    #[error("`-vV` doesn't tell its {field}")]
    NoVersion {
        /// The field that is missing.
        field: &'static str,
    },
    /// It is too old.
    #[error("it is version {found}, and {needed} is needed")]
    TooOld {
        /// Its version.
        found: String,
        /// The oldest that serves.
        needed: &'static str,
    },
    /// There is no source of `core` to compile for the device.
    #[error("there is no library source at {}", path.display())]
    NoLibrarySource {
        /// Where it should be.
        path: PathBuf,
    },
    /// The LLVM tools of its version of LLVM are missing.
    #[error("LLVM {major}'s llvm-link, opt, llc, llvm-ar and llvm-dis are in none of {}", list(looked_in))]
    NoLlvm {
        /// LLVM's major version. Bitcode of one can't be read by an older one.
        major: u32,
        /// The folders where they aren't, or not all of them.
        looked_in: Vec<PathBuf>,
    },
}

/// An error of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No compiler on this machine can build kernels.
    #[error("no compiler here can build kernels for NVIDIA GPUs.\n{}{INSTALL_TOOLCHAIN}", reasons(rejected))]
    NoToolchain {
        /// All that were looked at.
        rejected: Vec<Rejected>,
    },
    /// There is no `ptxas`.
    #[error("there is no ptxas: looked for {}.\n{INSTALL_PTXAS}", list(looked_at))]
    NoPtxas {
        /// All that were looked at.
        looked_at: Vec<PathBuf>,
    },
    /// A program can't be started.
    #[error("{} can't be started", program.display())]
    Start {
        /// The program.
        program: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A program failed.
    #[error("{} failed, {status}{}{stderr}", program.display(), if stderr.is_empty() { "" } else { ":\n" })]
    Failed {
        /// The program.
        program: PathBuf,
        /// How it ended.
        status: ExitStatus,
        /// What it said. Empty where it was shown as it came.
        stderr: String,
    },
    /// A file or folder can't be read or written.
    #[error("can't {operation} {}", path.display())]
    File {
        /// What was tried.
        operation: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A program's output isn't understood.
    #[error("{program} says what isn't understood: {text}")]
    Output {
        /// The program.
        program: &'static str,
        /// What it said.
        text: String,
    },
    /// The crate has no kernels: no `#[unsafe(no_mangle)] pub unsafe extern "ptx-kernel" fn`.
    #[error("{} has no function of `extern \"ptx-kernel\"` that is `#[unsafe(no_mangle)]`", krate.display())]
    NoKernels {
        /// Folder of the crate.
        krate: PathBuf,
    },
    /// A function that is called and isn't there.
    #[error("line {line} of the PTX declares `{symbol}`, which nothing defines")]
    Unresolved {
        /// The function.
        symbol: String,
        /// Line of the PTX, from 1.
        line: usize,
    },
    /// An instruction whose result is not correctly rounded, in a crate that asked for [`bit_exact`].
    ///
    /// [`bit_exact`]: crate::CudaBuilder::bit_exact
    #[error("line {line} of the PTX is not correctly rounded: `{instruction}`")]
    NotExact {
        /// The instruction.
        instruction: String,
        /// Line of the PTX, from 1.
        line: usize,
    },
}

impl Error {
    pub(crate) fn file(operation: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::File { operation, path: path.to_owned(), source }
    }
}

fn list(paths: &[PathBuf]) -> String {
    if paths.is_empty() {
        return "no folder".to_owned();
    }
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
}

fn reasons(rejected: &[Rejected]) -> String {
    let mut text = String::new();
    for Rejected { rustc, reason } in rejected {
        // Writing to a string can't fail.
        let _ = writeln!(text, "  {}: {reason}", rustc.display());
    }
    text
}
