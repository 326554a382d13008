//! The compiler: found, run, or missed.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
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

/// PTX of `compiled/NAME.cu`, which is kept for as long as neither source nor compiler changes.
fn compile(nvcc: &Path, name: &str, target: u32) -> String {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/compiled/{name}.cu"));
    let mut key = DefaultHasher::new();
    let installed = std::fs::metadata(nvcc).and_then(|file| file.modified()).ok();
    (std::fs::read(&source).unwrap(), nvcc, installed).hash(&mut key);
    let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{target}-{:016x}.ptx", key.finish()));
    if let Ok(ptx) = std::fs::read_to_string(&kept) {
        return ptx;
    }
    let ptx = run(nvcc, &source, target);
    // Written under another name first, since tests may run at once.
    let new = kept.with_extension(std::process::id().to_string());
    std::fs::write(&new, &ptx).and_then(|()| std::fs::rename(&new, &kept)).unwrap();
    ptx
}

fn run(nvcc: &Path, source: &Path, target: u32) -> String {
    let output = Command::new(nvcc)
        .args(["-w", "-ptx", "-o", "-", &format!("-arch=sm_{target}")])
        .arg(source)
        .output()
        .unwrap_or_else(|error| panic!("{}: {error}", nvcc.display()));
    assert!(output.status.success(), "{}, sm_{target}: {}", source.display(), String::from_utf8_lossy(&output.stderr));
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
