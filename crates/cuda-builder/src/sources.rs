//! The files that a build depends on.

use crate::cargo::Built;
use crate::error::Error;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Sources of the crate and of its dependencies by path, their manifests, and the lock file.
pub(crate) fn of(krate: &Path, built: &Built) -> Result<Vec<PathBuf>, Error> {
    let text = fs::read_to_string(&built.dep_info).map_err(Error::file("read", &built.dep_info))?;
    let mut sources: BTreeSet<_> = rule(&text).into_iter().map(|path| krate.join(path)).collect();
    sources.extend(built.manifests.iter().cloned());
    let lock = krate.join("Cargo.lock");
    if lock.is_file() {
        sources.insert(lock);
    }
    Ok(sources.into_iter().collect())
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
