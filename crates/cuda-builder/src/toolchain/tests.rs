//! The search, with what stands in for compilers.

use super::llvm;
use super::*;
use std::path::Path;

const SAID: &str = "\
rustc 1.96.0 (ac68faa20 2026-05-25) (built from a source tarball)
binary: rustc
commit-hash: ac68faa20c58cbccd01ee7208bf3b6e93a7d7f96
host: x86_64-unknown-linux-gnu
release: 1.96.0
LLVM version: 22.1.8
";

fn parse(said: &str, sysroot: &Path) -> Result<Rustc, Reason> {
    Rustc::parse("rustc".into(), said, sysroot.to_owned())
}

#[test]
fn a_compiler_tells_its_versions() {
    let rustc = parse(SAID, Path::new("/nowhere")).unwrap();
    assert_eq!(rustc.program, Path::new("rustc"));
    assert_eq!(rustc.name, "rustc 1.96.0 (ac68faa20 2026-05-25) (built from a source tarball)");
    assert_eq!((rustc.release.as_str(), rustc.llvm.as_str()), ("1.96.0", "22.1.8"));
    assert_eq!(rustc.host, "x86_64-unknown-linux-gnu");
    for (field, key) in [("release", "release"), ("host", "host"), ("LLVM version", "LLVM version")] {
        let without = SAID.replace(&format!("\n{key}:"), "\nx:");
        assert_eq!(parse(&without, Path::new("/nowhere")), Err(Reason::NoVersion { field }));
    }
}

#[test]
fn old_compilers_and_those_without_the_library_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let check = |release: &str| parse(&SAID.replace("release: 1.96.0", release), folder.path()).unwrap().check();
    let path = folder.path().join("lib/rustlib/src/rust/library");
    for release in ["1.93.1", "1.9.0", "0.9.0", "nonsense"] {
        let expected = Reason::TooOld { found: release.to_owned(), needed: "1.94" };
        assert_eq!(check(&format!("release: {release}")), Err(expected));
    }
    for release in ["1.94.0", "1.96.0", "1.101.0-nightly", "2.0.0"] {
        assert_eq!(check(&format!("release: {release}")), Err(Reason::NoLibrarySource { path: path.clone() }));
    }
    std::fs::create_dir_all(&path).unwrap();
    std::fs::write(path.join("Cargo.lock"), "").unwrap();
    assert_eq!(check("release: 1.94.0"), Ok(()));
}

#[test]
fn the_version_of_llvm_is_read() {
    let rust = "LLVM (http://llvm.org/):\n  LLVM version 22.1.2-rust-1.95.0-stable\n  Optimized build.\n";
    assert_eq!(llvm::version(rust).as_deref(), Some("22.1.2-rust-1.95.0-stable"));
    assert_eq!(llvm::version("Debian LLVM version 22.1.8\n").as_deref(), Some("22.1.8"));
    assert_eq!(llvm::version("something else"), None);
}

#[test]
fn what_is_not_there_is_said() {
    let reason = Toolchain::of("/nowhere/rustc".into(), None).unwrap_err();
    assert!(matches!(reason, Reason::NotRunnable { .. }), "{reason}");
    let error = Error::NoToolchain { rejected: vec![Rejected { rustc: "/nowhere/rustc".into(), reason }] };
    let text = error.to_string();
    assert!(text.contains("  /nowhere/rustc: it can't be run"), "{text}");
    assert!(text.contains("rustup toolchain install") && text.contains("apt-get install"), "{text}");
}

/// Programs that say what they are asked to.
#[cfg(unix)]
mod programs {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;
    use std::process::Command;

    fn program(path: &Path, script: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        // Copied by another process: Linux runs no file that a child of a test beside this one still holds open for
        // writing.
        let text = path.with_extension("text");
        fs::write(&text, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&text, fs::Permissions::from_mode(0o755)).unwrap();
        assert!(Command::new("cp").arg("-p").args([&text, path]).status().unwrap().success());
    }

    /// A sysroot with a compiler, the library's source, and LLVM tools that say `version`.
    fn sysroot(folder: &Path, version: &str) -> PathBuf {
        let rustc = folder.join("bin/rustc");
        let script = format!("[ \"$1\" = -vV ] && cat <<'END' || echo '{}'\n{SAID}END", folder.display());
        program(&rustc, &script);
        let library = folder.join("lib/rustlib/src/rust/library");
        fs::create_dir_all(&library).unwrap();
        fs::write(library.join("Cargo.lock"), "").unwrap();
        for tool in ["llvm-link", "opt", "llc", "llvm-ar", "llvm-dis"] {
            let path = folder.join("lib/rustlib/x86_64-unknown-linux-gnu/bin").join(tool);
            program(&path, &format!("echo '  LLVM version {version}'"));
        }
        rustc
    }

    #[test]
    fn parts_that_fit_make_a_toolchain() {
        let folder = tempfile::tempdir().unwrap();
        let rustc = sysroot(folder.path(), "22.1.2-rust");
        let toolchain = Toolchain::of(rustc.clone(), None).unwrap();
        assert_eq!(toolchain.rustc.program, rustc);
        assert_eq!(toolchain.rustc.sysroot, folder.path());
        assert_eq!(toolchain.llvm.version, "22.1.2-rust");
    }

    #[test]
    fn a_given_folder_of_tools_comes_first_if_its_version_fits() {
        let folder = tempfile::tempdir().unwrap();
        let (own, other) = (folder.path().join("own"), folder.path().join("other"));
        let rustc = sysroot(&own, "22.1.2");
        for (version, expected) in [("22.9.9", "22.9.9"), ("21.1.0", "22.1.2")] {
            sysroot(&other, version);
            let tools = other.join("lib/rustlib/x86_64-unknown-linux-gnu/bin");
            assert_eq!(Toolchain::of(rustc.clone(), Some(&tools)).unwrap().llvm.version, expected);
        }
    }

    #[test]
    fn a_compiler_that_fails_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let rustc = folder.path().join("rustc");
        program(&rustc, "echo broken >&2; exit 3");
        let reason = Toolchain::of(rustc, None).unwrap_err();
        assert!(matches!(&reason, Reason::NotRunnable { message } if message.contains("broken")), "{reason}");
    }
}
