//! `cargo xtask test`: all tests, those on a device included, which an emulated driver runs where there is no GPU.

use anyhow::{Context as _, Result, bail};
use clap::{Args, ValueEnum};
use serde_json::Value;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The package of the emulated driver, and the name under which programs look for a driver.
const DRIVER: (&str, &str) = ("lockstep-cuda-emu-driver", "libcuda.so.1");
/// The feature that a package has if it runs on devices.
const FEATURE: &str = "cuda";
/// Where the system's loader looks first.
const LIBRARY_PATH: &str = "LD_LIBRARY_PATH";

#[derive(Args)]
pub(crate) struct Arguments {
    /// Which driver the tests run on. The programs are the same.
    #[arg(long, value_enum, default_value_t)]
    driver: Driver,
    /// Tests these packages only.
    #[arg(long, short)]
    package: Vec<String>,
    /// What `cargo test` gets too: `cargo xtask test -- --release --test graph`.
    #[arg(last = true)]
    cargo: Vec<String>,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Driver {
    /// The one of `cuda-emu-driver`, which is built first.
    #[default]
    Emulated,
    /// The machine's own.
    Real,
}

/// What cargo tells of the workspace.
struct Workspace {
    target: PathBuf,
    /// Packages that have the feature.
    on_devices: Vec<String>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let workspace = Workspace::read()?;
    let mut tests = cargo();
    tests.args(["test", "--locked"]).args(selection(&arguments.package, &workspace.on_devices)).args(&arguments.cargo);
    if let Driver::Emulated = arguments.driver {
        tests.env(LIBRARY_PATH, first_in_path(&install_driver(&workspace.target)?)?);
    }
    let status = tests.status().context("can't run cargo")?;
    if status.success() { Ok(()) } else { bail!("{status}") }
}

/// Cargo: the one that runs this, if one does.
fn cargo() -> Command {
    Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

impl Workspace {
    fn read() -> Result<Self> {
        let text = output(cargo().args(["metadata", "--no-deps", "--locked", "--format-version=1"]))?;
        Self::parse(&text).context("can't read cargo's metadata")
    }

    fn parse(text: &str) -> Result<Self> {
        let metadata: Value = serde_json::from_str(text)?;
        let target = metadata["target_directory"].as_str().context("no target folder")?.into();
        let packages = metadata["packages"].as_array().context("no packages")?.iter();
        let on_devices = packages.filter(|package| package["features"].get(FEATURE).is_some());
        let on_devices = on_devices.filter_map(|package| package["name"].as_str().map(str::to_owned)).collect();
        Ok(Self { target, on_devices })
    }
}

/// Cargo's arguments for packages, or all if none are named, with the feature where there is one.
fn selection(packages: &[String], on_devices: &[String]) -> Vec<String> {
    let mut arguments: Vec<_> = packages.iter().map(|package| format!("--package={package}")).collect();
    if packages.is_empty() {
        arguments.push("--workspace".to_owned());
    }
    let selected = on_devices.iter().filter(|name| packages.is_empty() || packages.contains(name));
    arguments.extend(selected.map(|name| format!("--features={name}/{FEATURE}")));
    arguments
}

/// Builds the emulated driver; the folder in which it has a driver's name.
fn install_driver(target: &Path) -> Result<PathBuf> {
    let (package, name) = DRIVER;
    let messages =
        output(cargo().args(["build", "--locked", "--message-format=json-render-diagnostics", "-p", package]))?;
    let library = messages.lines().find_map(library).with_context(|| format!("{package} built no library"))?;
    let folder = target.join("cuda-emu");
    fs::create_dir_all(&folder).with_context(|| format!("can't make {}", folder.display()))?;
    // A copy that appears at once: tests of another run may have the old one open.
    let (new, installed) = (folder.join(format!("{name}.{}", std::process::id())), folder.join(name));
    fs::copy(&library, &new).with_context(|| format!("can't copy {}", library.display()))?;
    fs::rename(&new, &installed).with_context(|| format!("can't write {}", installed.display()))?;
    Ok(folder)
}

/// The shared library of which a line of cargo's messages tells.
fn library(message: &str) -> Option<PathBuf> {
    let message: Value = serde_json::from_str(message).ok()?;
    let kinds = message["target"]["crate_types"].as_array()?;
    if message["reason"] != "compiler-artifact" || !kinds.iter().any(|kind| kind == "cdylib") {
        return None;
    }
    let mut files = message["filenames"].as_array()?.iter().filter_map(Value::as_str);
    files.find(|file| file.ends_with(".so")).map(PathBuf::from)
}

/// The library path with `folder` before all others.
fn first_in_path(folder: &Path) -> Result<OsString> {
    let others = env::var_os(LIBRARY_PATH).filter(|others| !others.is_empty());
    let others = others.iter().flat_map(env::split_paths);
    Ok(env::join_paths([folder.to_owned()].into_iter().chain(others))?)
}

/// What a command prints to stdout, if it succeeds; stderr goes on.
fn output(command: &mut Command) -> Result<String> {
    let output = command.stderr(Stdio::inherit()).output().with_context(|| format!("can't run {command:?}"))?;
    if !output.status.success() {
        bail!("{command:?}: {}", output.status);
    }
    Ok(String::from_utf8(output.stdout)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_for_devices_are_those_with_the_feature() {
        let text = r#"{"target_directory": "/t", "packages": [
            {"name": "a", "features": {"cuda": ["b"]}}, {"name": "b", "features": {"x": []}}, {"name": "c", "features": {"cuda": []}}
        ]}"#;
        let workspace = Workspace::parse(text).unwrap();
        assert_eq!((workspace.target, workspace.on_devices), ("/t".into(), vec!["a".to_owned(), "c".to_owned()]));
        assert!(Workspace::parse("{}").is_err());
    }

    #[test]
    fn the_feature_is_asked_of_packages_that_have_it() {
        let strings = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
        let on_devices = strings(&["a", "c"]);
        assert_eq!(selection(&[], &on_devices), ["--workspace", "--features=a/cuda", "--features=c/cuda"]);
        assert_eq!(selection(&strings(&["b", "c"]), &on_devices), ["--package=b", "--package=c", "--features=c/cuda"]);
    }

    #[test]
    fn the_library_is_the_one_that_cargo_names() {
        let message = |kind: &str| {
            format!(
                r#"{{"reason": "compiler-artifact", "target": {{"crate_types": ["{kind}", "rlib"]}},
                "filenames": ["/t/liba.rlib", "/t/liba.so"]}}"#
            )
        };
        assert_eq!(library(&message("cdylib")), Some("/t/liba.so".into()));
        assert_eq!(library(&message("lib")), None);
        assert_eq!(library("Compiling a"), None);
        assert_eq!(library(r#"{"reason": "build-finished"}"#), None);
    }
}
