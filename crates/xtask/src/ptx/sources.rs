//! Hashes of sources.

use anyhow::{Context as _, Result, bail};
use cuda_builder::manifest::{Manifest, sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// SHA-256 of each of `files`, by path from `root` with `/`.
pub(super) fn hashes(root: &Path, files: &BTreeSet<PathBuf>) -> Result<BTreeMap<String, String>> {
    let mut hashes = BTreeMap::new();
    for file in files {
        let real = fs::canonicalize(file).with_context(|| format!("can't find {}", file.display()))?;
        let name = real.strip_prefix(root).with_context(|| format!("{} is outside", real.display()))?;
        let parts: Vec<_> = name.iter().map(|part| part.to_string_lossy()).collect();
        hashes.insert(parts.join("/"), hash(&real)?);
    }
    Ok(hashes)
}

fn hash(path: &Path) -> Result<String> {
    Ok(sha256(&fs::read(path).with_context(|| format!("can't read {}", path.display()))?))
}

/// That the sources are those of the manifest.
pub(super) fn check(root: &Path, manifest: &Manifest) -> Result<()> {
    let changed = changed(root, manifest);
    if changed.is_empty() {
        println!("the sources are those of the committed PTX");
        return Ok(());
    }
    bail!("the committed PTX was built from other sources: {}; run `cargo xtask ptx`", changed.join(", "))
}

/// Sources that differ from the manifest's or are gone.
fn changed(root: &Path, manifest: &Manifest) -> Vec<String> {
    let differs = |(name, expected): (&String, &String)| {
        let same = hash(&root.join(name)).is_ok_and(|hash| hash == *expected);
        (!same).then(|| name.clone())
    };
    manifest.sources.iter().filter_map(differs).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_sources_are_named() {
        let root = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(root.path()).unwrap();
        fs::create_dir_all(root.join("a/src")).unwrap();
        let files: BTreeSet<_> = ["a/src/lib.rs", "a/Cargo.toml", "x"].iter().map(|name| root.join(name)).collect();
        for file in &files {
            fs::write(file, file.to_string_lossy().as_bytes()).unwrap();
        }
        let manifest = Manifest {
            rustc: String::new(),
            llvm: String::new(),
            ptxas: String::new(),
            arch: String::new(),
            sources: hashes(&root, &files).unwrap(),
            modules: BTreeMap::new(),
        };
        assert_eq!(manifest.sources.keys().collect::<Vec<_>>(), ["a/Cargo.toml", "a/src/lib.rs", "x"]);
        assert!(check(&root, &manifest).is_ok());
        fs::write(root.join("x"), "changed").unwrap();
        fs::remove_file(root.join("a/Cargo.toml")).unwrap();
        assert_eq!(changed(&root, &manifest), ["a/Cargo.toml", "x"]);
        assert!(check(&root, &manifest).unwrap_err().to_string().contains("a/Cargo.toml, x"));
    }
}
