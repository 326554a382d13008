//! LLVM's tools.

use super::rustc::{Rustc, major};
use crate::error::Reason;
use crate::process::command;
use std::env;
use std::path::{Path, PathBuf};

/// Programs that a build runs.
const PROGRAMS: [&str; 5] = ["llvm-link", "opt", "llc", "llvm-ar", "llvm-dis"];

/// LLVM's tools, of one version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Llvm {
    /// The folder they are in.
    pub folder: PathBuf,
    /// Their version.
    pub version: String,
}

impl Llvm {
    /// Tools of the compiler's version of LLVM.
    pub(super) fn find(rustc: &Rustc, folder: Option<&PathBuf>) -> Result<Self, Reason> {
        let major = rustc.llvm_major()?;
        let looked_in = folders(rustc, major, folder);
        let found = looked_in.iter().find_map(|folder| Self::in_folder(folder, major));
        found.ok_or(Reason::NoLlvm { major, looked_in })
    }

    fn in_folder(folder: &Path, wanted: u32) -> Option<Self> {
        let llvm = Self { folder: folder.to_owned(), version: String::new() };
        if !PROGRAMS.iter().all(|name| llvm.program(name).is_file()) {
            return None;
        }
        let said = command(llvm.program("llc")).arg("--version").output().ok()?;
        let version = version(&String::from_utf8_lossy(&said.stdout))?;
        (major(&version) == Some(wanted)).then_some(Self { version, ..llvm })
    }

    pub(crate) fn program(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}{}", env::consts::EXE_SUFFIX))
    }
}

/// Where the tools may be, the likeliest to fit first.
fn folders(rustc: &Rustc, major: u32, folder: Option<&PathBuf>) -> Vec<PathBuf> {
    let mut folders: Vec<_> = folder.cloned().into_iter().collect();
    // Component llvm-tools of rustup.
    folders.push(rustc.sysroot.join("lib/rustlib").join(&rustc.host).join("bin"));
    // Debian and Ubuntu.
    folders.push(format!("/usr/lib/llvm-{major}/bin").into());
    // LLVM's own packages, and Homebrew.
    folders.push("/usr/local/bin".into());
    folders.push(format!("/opt/homebrew/opt/llvm@{major}/bin").into());
    folders.extend(env::var_os("PATH").iter().flat_map(env::split_paths));
    folders.retain(|folder| folder.is_dir());
    folders.dedup();
    folders
}

/// The version in the output of `llc --version`.
pub(super) fn version(said: &str) -> Option<String> {
    let (_, rest) = said.split_once("LLVM version ")?;
    Some(rest.split_whitespace().next()?.to_owned())
}
