//! The compiler.

use crate::error::Reason;
use crate::process::command;
use std::env;
use std::path::{Path, PathBuf};

/// The oldest release with everything that kernels use: `core::f32::math`, and bitcode in rlibs of this target.
const OLDEST: [u32; 2] = [1, 94];
const OLDEST_NAME: &str = "1.94";

/// A `rustc` and what it says about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rustc {
    /// The program.
    pub program: PathBuf,
    /// Its first line: name, version, commit and date.
    pub name: String,
    /// Its version.
    pub release: String,
    /// The target it runs on.
    pub host: String,
    /// The version of the LLVM in it.
    pub llvm: String,
    /// Where its libraries are.
    pub sysroot: PathBuf,
}

impl Rustc {
    pub(super) fn ask(program: PathBuf) -> Result<Self, Reason> {
        let run = |arguments: &[&str]| {
            let failed = |message: String| Reason::NotRunnable { message };
            let output = command(&program).args(arguments).output().map_err(|error| failed(error.to_string()))?;
            if output.status.success() {
                Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
            } else {
                Err(failed(format!("{}: {}", output.status, String::from_utf8_lossy(&output.stderr).trim())))
            }
        };
        let said = run(&["-vV"])?;
        let sysroot = PathBuf::from(run(&["--print", "sysroot"])?);
        Self::parse(program, &said, sysroot)
    }

    /// `said`: the output of `rustc -vV`.
    pub(super) fn parse(program: PathBuf, said: &str, sysroot: PathBuf) -> Result<Self, Reason> {
        let field = |field: &'static str, key: &str| {
            let value = said.lines().find_map(|line| line.strip_prefix(key));
            value.map(|value| value.trim().to_owned()).ok_or(Reason::NoVersion { field })
        };
        // The program behind rustup's proxy: the choice of the proxy depends on the current folder.
        let real = sysroot.join("bin").join(format!("rustc{}", env::consts::EXE_SUFFIX));
        Ok(Self {
            program: if real.is_file() { real } else { program },
            name: said.lines().next().unwrap_or_default().trim().to_owned(),
            release: field("release", "release:")?,
            host: field("host", "host:")?,
            llvm: field("LLVM version", "LLVM version:")?,
            sysroot,
        })
    }

    pub(super) fn check(&self) -> Result<(), Reason> {
        let mut parts = self.release.split(['.', '-']).map(|part| part.parse::<u32>().unwrap_or(0));
        let version = [parts.next().unwrap_or(0), parts.next().unwrap_or(0)];
        if version < OLDEST {
            return Err(Reason::TooOld { found: self.release.clone(), needed: OLDEST_NAME });
        }
        let path = self.library();
        // Cargo builds the library with this lock file.
        if path.join("Cargo.lock").is_file() { Ok(()) } else { Err(Reason::NoLibrarySource { path }) }
    }

    /// Where the source of `core` is, if it is there.
    pub(crate) fn library(&self) -> PathBuf {
        self.sysroot.join("lib/rustlib/src/rust/library")
    }

    /// LLVM's major version.
    pub(super) fn llvm_major(&self) -> Result<u32, Reason> {
        major(&self.llvm).ok_or(Reason::NoVersion { field: "LLVM version" })
    }

    /// The cargo that came with it, or else the one of this process or of the path.
    pub(crate) fn cargo(&self) -> PathBuf {
        let own = self.sysroot.join("bin").join(format!("cargo{}", env::consts::EXE_SUFFIX));
        if own.is_file() { own } else { env::var_os("CARGO").map_or_else(|| "cargo".into(), PathBuf::from) }
    }
}

/// The number before the first point.
pub(super) fn major(version: &str) -> Option<u32> {
    version.split('.').next()?.trim().parse().ok()
}

/// Compilers to look at, without those that obviously aren't there.
pub(super) fn candidates() -> Vec<PathBuf> {
    if let Some(chosen) = env::var_os("CUDA_BUILDER_RUSTC") {
        return vec![chosen.into()];
    }
    let mut candidates = vec![PathBuf::from("rustc")];
    let system = Path::new("/usr/bin/rustc");
    if system.is_file() {
        candidates.push(system.to_owned());
    }
    let home = env::var_os("RUSTUP_HOME").map(PathBuf::from).or_else(|| Some(env::home_dir()?.join(".rustup")));
    let toolchains = home.and_then(|home| home.join("toolchains").read_dir().ok());
    let mut of_rustup: Vec<_> = toolchains
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path().join("bin").join(format!("rustc{}", env::consts::EXE_SUFFIX)))
        .filter(|rustc| rustc.is_file())
        .collect();
    of_rustup.sort();
    candidates.append(&mut of_rustup);
    candidates
}
