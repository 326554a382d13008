//! The compiler: found, run, or missed.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Compute capabilities that headers and compiler treat differently.
const TARGETS: [u32; 3] = [75, 80, 90];

/// nvcc: where the environment says, or where `.ci/install-nvcc` puts it.
fn find() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("LOCKSTEP_NVCC") {
        return Some(path.into());
    }
    let lib = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/nvcc/lib");
    let python = std::fs::read_dir(lib).ok()?.next()?.ok()?.path();
    let nvcc = python.join("site-packages/nvidia/cu13/bin/nvcc");
    nvcc.exists().then_some(nvcc)
}

/// PTX of `compiled/NAME.cu`.
fn compile(nvcc: &Path, name: &str, target: u32) -> String {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/compiled/{name}.cu"));
    let output = Command::new(nvcc)
        .args(["-w", "-ptx", "-o", "-", &format!("-arch=sm_{target}")])
        .arg(source)
        .output()
        .unwrap_or_else(|error| panic!("{}: {error}", nvcc.display()));
    assert!(output.status.success(), "{name}, sm_{target}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Tests the PTX of a source that is committed, if it is, and what nvcc makes for each target.
pub(crate) fn each_target(name: &str, committed: Option<&str>, test: impl Fn(&str, u32)) {
    if let Some(ptx) = committed {
        test(ptx, 80);
    }
    let Some(nvcc) = find() else {
        assert!(std::env::var_os("LOCKSTEP_NVCC_REQUIRED").is_none(), "there is no nvcc");
        // Not `eprintln!`, which the harness keeps to itself.
        let _ = writeln!(std::io::stderr(), "skipped: {name}.cu, there is no nvcc (.ci/install-nvcc)");
        return;
    };
    for target in TARGETS {
        test(&compile(&nvcc, name, target), target);
    }
}
