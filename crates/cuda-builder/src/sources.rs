//! The files that a build depends on.

use crate::cargo::Built;
use crate::error::Error;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Sources of the crate and of its dependencies by path, their manifests, and the lock file.
pub(crate) fn of(krate: &Path, built: &Built) -> Result<Vec<PathBuf>, Error> {
    let mut sources = BTreeSet::new();
    for (manifest, rlib) in &built.local {
        let (path, folder) = (dep_info(rlib), manifest.parent().unwrap_or(krate));
        let text = fs::read_to_string(&path).map_err(Error::file("read", &path))?;
        sources.extend(rule(&text).iter().map(|path| locate(folder, path)));
        sources.insert(manifest.clone());
    }
    let lock = krate.join("Cargo.lock");
    if lock.is_file() {
        sources.insert(lock);
    }
    Ok(sources.into_iter().collect())
}

/// The list of source files beside an rlib: cargo's, which has the rlib's name and tells of dependencies too, or else the
/// compiler's.
fn dep_info(rlib: &Path) -> PathBuf {
    let of_cargo = rlib.with_extension("d");
    let stem = rlib.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let of_compiler = rlib.with_file_name(format!("{}.d", stem.strip_prefix("lib").unwrap_or(&stem)));
    if of_cargo.is_file() { of_cargo } else { of_compiler }
}

/// Paths are relative to the folder of the crate or of its workspace.
fn locate(folder: &Path, path: &Path) -> PathBuf {
    let found = folder.ancestors().map(|folder| folder.join(path)).find(|path| path.is_file());
    found.unwrap_or_else(|| folder.join(path))
}

/// The prerequisites of the first rule of a makefile; spaces in their names are escaped.
fn rule(text: &str) -> Vec<PathBuf> {
    let line = text.lines().next().unwrap_or_default();
    let Some((_, prerequisites)) = line.split_once(": ") else { return Vec::new() };
    let (mut paths, mut path) = (Vec::new(), String::new());
    let mut rest = prerequisites.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\\' if rest.peek() == Some(&' ') => path.extend(rest.next()),
            ' ' if path.is_empty() => {}
            ' ' => paths.push(std::mem::take(&mut path).into()),
            _ => path.push(c),
        }
    }
    if !path.is_empty() {
        paths.push(path.into());
    }
    paths
}

#[cfg(test)]
mod tests {
    use super::rule;
    use std::path::Path;

    #[test]
    fn prerequisites_may_have_spaces() {
        let paths = rule("/t/libk.rlib: /a/lib.rs /with\\ space/b.rs /c\\d.rs\n/a/lib.rs:\n");
        assert_eq!(paths, ["/a/lib.rs", "/with space/b.rs", "/c\\d.rs"].map(Path::new));
        assert!(rule("").is_empty());
        assert!(rule("/t/libk.rlib:").is_empty());
    }
}
