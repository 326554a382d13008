//! Names of crates that don't depend on where they lie.
//!
//! Cargo tells crates apart by hashes, into which the path of a crate goes that isn't in the workspace of the kernels: a
//! dependency by path, and `core`. The hashes are part of the symbols, the compiler sorts functions by these, and the optimizer
//! takes them in that order: so the PTX of the same sources could differ from one checkout to the next. A wrapper of the
//! compiler puts name and version in the place of the hash.

use crate::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

const SCRIPT: &str = r#"#!/bin/sh
rustc=$1
shift
for argument; do
    shift
    case $argument in
        metadata=*) argument="metadata=$CARGO_PKG_NAME-$CARGO_PKG_VERSION" ;;
    esac
    set -- "$@" "$argument"
done
exec "$rustc" "$@"
"#;

/// The wrapper, for `RUSTC_WRAPPER`.
pub(crate) fn wrapper(target_dir: &Path) -> Result<PathBuf, Error> {
    let path = target_dir.join("rustc-wrapper");
    // Cargo builds all anew when it has changed.
    if fs::read_to_string(&path).is_ok_and(|text| text == SCRIPT) {
        return Ok(path);
    }
    fs::write(&path, SCRIPT).map_err(Error::file("write", &path))?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let executable = fs::Permissions::from_mode(0o755);
        fs::set_permissions(&path, executable).map_err(Error::file("make executable", &path))?;
    }
    Ok(path)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn a_crate_is_its_name_and_version_and_all_else_stays() {
        let folder = tempfile::tempdir().unwrap();
        let wrapper = wrapper(folder.path()).unwrap();
        let output = Command::new(&wrapper)
            .args(["printf", "%s|", "-C", "metadata=0123abcd", "-C", "extra-filename=-0123abcd", "a b", "", "*"])
            .envs([("CARGO_PKG_NAME", "kernels"), ("CARGO_PKG_VERSION", "1.2.3")])
            .output()
            .unwrap();
        let expected = "-C|metadata=kernels-1.2.3|-C|extra-filename=-0123abcd|a b||*|";
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
        // What is right isn't written again.
        let time = fs::metadata(&wrapper).unwrap().modified().unwrap();
        super::wrapper(folder.path()).unwrap();
        assert_eq!(fs::metadata(&wrapper).unwrap().modified().unwrap(), time);
        let failed = Command::new(&wrapper).arg("false").status().unwrap();
        assert_eq!(failed.code(), Some(1));
    }
}
