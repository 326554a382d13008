//! Cargo compiles the crate, its dependencies and `core` to LLVM bitcode.
//!
//! The kernel crate is built as an rlib: no linker runs, and the bitcode of all crates is linked afterwards.

use crate::arch::Arch;
use crate::error::Error;
use crate::identities;
use crate::process::command;
use crate::toolchain::Toolchain;
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

/// The compiler's target.
const TARGET: &str = "nvptx64-nvidia-cuda";

/// What to build.
pub(crate) struct Job<'a> {
    pub(crate) toolchain: &'a Toolchain,
    /// Canonical.
    pub(crate) krate: &'a Path,
    pub(crate) target_dir: &'a Path,
    pub(crate) arch: Arch,
    pub(crate) features: Option<&'a [String]>,
    pub(crate) locked: bool,
}

/// What was built.
pub(crate) struct Built {
    /// The library's name.
    pub(crate) name: String,
    /// The crate's rlib and then those of its dependencies, sorted by name.
    pub(crate) rlibs: Vec<PathBuf>,
    /// `Cargo.toml` and rlib of the crate and of its dependencies by path.
    pub(crate) local: Vec<(PathBuf, PathBuf)>,
}

pub(crate) fn build(job: &Job<'_>) -> Result<Built, Error> {
    let mut command = invocation(job)?;
    let program = PathBuf::from(command.get_program());
    let output = command.output().map_err(|source| Error::Start { program: program.clone(), source })?;
    if !output.status.success() {
        return Err(Error::Failed { program, status: output.status, stderr: String::new() });
    }
    collect(job, &String::from_utf8_lossy(&output.stdout))
}

fn invocation(job: &Job<'_>) -> Result<Command, Error> {
    let rustc = &job.toolchain.rustc;
    let mut command = command(rustc.cargo());
    // What a build script or a cargo around this one has set is meant for the host.
    for (name, _) in env::vars_os() {
        let name = name.to_string_lossy().into_owned();
        let kept = ["CARGO_HOME", "CARGO_HTTP_", "CARGO_NET_", "CARGO_REGISTRIES_", "CARGO_REGISTRY_", "CARGO_TERM_"];
        let of_cargo = name.starts_with("CARGO") && !kept.iter().any(|kept| name.starts_with(kept));
        if of_cargo || name.starts_with("RUSTC") || name.starts_with("RUSTFLAGS") || name == "RUSTUP_TOOLCHAIN" {
            command.env_remove(name);
        }
    }
    command.current_dir(job.krate).stdin(Stdio::null()).stderr(Stdio::inherit());
    command.env("RUSTC", &rustc.program).env("RUSTC_BOOTSTRAP", "1");
    if cfg!(unix) {
        command.env("RUSTC_WRAPPER", identities::wrapper(job.target_dir)?);
    }
    command.env("CARGO_ENCODED_RUSTFLAGS", flags(job)?.join("\u{1f}"));
    command.args(["rustc", "--lib", "--crate-type", "rlib", "--release", "--target", TARGET, "-Zbuild-std=core"]);
    for setting in ["opt-level=3", "codegen-units=1", "debug=0", "panic=\"abort\"", "lto=\"off\"", "incremental=false"]
    {
        command.arg("--config").arg(format!("profile.release.{setting}"));
    }
    command.arg("--message-format=json-render-diagnostics").arg("--target-dir").arg(job.target_dir);
    if let Some(features) = job.features {
        command.arg("--no-default-features").arg("--features").arg(features.join(","));
    }
    if job.locked {
        command.arg("--locked");
    }
    Ok(command)
}

fn flags(job: &Job<'_>) -> Result<Vec<String>, Error> {
    let mut flags = vec![
        format!("-Ctarget-cpu={}", job.arch),
        // It may copy a barrier into both arms of a branch, where threads then wait for each other at two places
        // (rust-lang/rust#137086).
        "-Zmir-enable-passes=-JumpThreading".to_owned(),
    ];
    // Places in the sources may stay in texts of panics. The last one that fits counts, so the crate comes last.
    let mut remap = |from: &Path, to: &str| flags.push(format!("--remap-path-prefix={}={to}", from.display()));
    remap(&job.toolchain.rustc.library(), "library");
    let home = env::var_os("CARGO_HOME").map(PathBuf::from).or_else(|| Some(env::home_dir()?.join(".cargo")));
    if let Some(home) = home {
        remap(&home, "cargo");
    }
    remap(job.krate.parent().unwrap_or(job.krate), ".");
    let library = job.toolchain.rustc.library();
    if let Ok(real) = fs::canonicalize(&library) {
        remap(&real, "library");
    }
    Ok(flags)
}

/// The lines of cargo's output that matter here.
#[derive(Deserialize)]
#[serde(tag = "reason", rename_all = "kebab-case")]
enum Message {
    CompilerArtifact {
        manifest_path: PathBuf,
        package_id: String,
        target: Target,
        filenames: Vec<PathBuf>,
    },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct Target {
    name: String,
}

fn collect(job: &Job<'_>, said: &str) -> Result<Built, Error> {
    let unclear = |text: &str| Error::Output { program: "cargo", text: text.to_owned() };
    let manifest = job.krate.join("Cargo.toml");
    let for_device = job.target_dir.join(TARGET);
    let (mut own, mut others, mut local) = (None, Vec::new(), Vec::new());
    for line in said.lines().filter(|line| line.starts_with('{')) {
        let message: Message = serde_json::from_str(line).map_err(|_| unclear(line))?;
        let Message::CompilerArtifact { manifest_path, package_id, target, filenames } = message else { continue };
        let is_rlib = |path: &PathBuf| path.extension().is_some_and(|e| e == "rlib") && path.starts_with(&for_device);
        // Build scripts and macros run on the host.
        let Some(rlib) = filenames.into_iter().find(is_rlib) else { continue };
        // The library's own source belongs to the compiler.
        if package_id.starts_with("path+") && !manifest_path.starts_with(&job.toolchain.rustc.sysroot) {
            local.push((manifest_path.clone(), rlib.clone()));
        }
        if manifest_path == manifest {
            own = Some((target.name, rlib));
        } else {
            others.push((target.name, rlib));
        }
    }
    let (name, own) = own.ok_or_else(|| unclear("no library was built"))?;
    others.sort();
    let rlibs = std::iter::once(own).chain(others.into_iter().map(|(_, rlib)| rlib)).collect();
    Ok(Built { name: name.replace('-', "_"), rlibs, local })
}
