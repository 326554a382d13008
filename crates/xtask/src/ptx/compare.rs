//! What was built against what is committed.

use anyhow::{Result, bail};
use cuda_builder::manifest::Manifest;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// That the files of PTX in `committed` are those in `built`, byte for byte, and that the manifest describes them.
///
/// Hashes of sources that differ are told and pass: a comment changes no PTX.
pub(super) fn check(committed: &Path, built: &Path, old: &Manifest, new: &Manifest) -> Result<()> {
    let mut differences = Vec::new();
    let names: BTreeSet<_> = old.modules.keys().chain(new.modules.keys()).collect();
    for name in names {
        let file = format!("{name}.ptx");
        match (fs::read_to_string(committed.join(&file)), fs::read_to_string(built.join(&file))) {
            (Ok(old), Ok(new)) if old == new => {}
            (Ok(old), Ok(new)) => differences.push(first_difference(&file, &old, &new)),
            (Err(_), _) => differences.push(format!("{file} isn't committed")),
            (_, Err(_)) => differences.push(format!("{file} belongs to no module")),
        }
    }
    let same_assembler = old.ptxas == new.ptxas;
    if differences.is_empty() && (old.arch != new.arch || same_assembler && old.modules != new.modules) {
        differences.push("manifest.json doesn't describe the PTX beside it".to_owned());
    }
    if differences.is_empty() {
        println!("the committed PTX is what its sources give");
        if !same_assembler {
            println!("note: costs weren't compared; the manifest's are those of ptxas {}", old.ptxas);
        }
        if old.sources != new.sources {
            println!(
                "note: sources have changed without changing the PTX; `cargo xtask ptx` brings the manifest up to date"
            );
        }
        return Ok(());
    }
    let compilers = if old.rustc == new.rustc && old.llvm == new.llvm {
        String::new()
    } else {
        format!("\nIt was built with {}, LLVM {}, which isn't installed here.", old.rustc, old.llvm)
    };
    bail!(
        "the committed PTX isn't what its sources give; run `cargo xtask ptx`:\n  {}{compilers}",
        differences.join("\n  ")
    )
}

fn first_difference(file: &str, old: &str, new: &str) -> String {
    let same = old.lines().zip(new.lines()).take_while(|(old, new)| old == new).count();
    let line = |text: &str| text.lines().nth(same).map_or("the end".to_owned(), |line| format!("`{}`", line.trim()));
    format!("{file}, line {}: committed {}, built {}", same + 1, line(old), line(new))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuda_builder::manifest::{Module, sha256};
    use std::collections::BTreeMap;

    fn manifest(modules: &[(&str, &str)]) -> Manifest {
        let module =
            |text: &str| Module { sha256: sha256(text.as_bytes()), bytes: text.len(), kernels: BTreeMap::new() };
        Manifest {
            rustc: "rustc 1".to_owned(),
            llvm: "22".to_owned(),
            ptxas: "13".to_owned(),
            arch: "sm_75".to_owned(),
            sources: BTreeMap::new(),
            modules: modules.iter().map(|(name, text)| ((*name).to_owned(), module(text))).collect(),
        }
    }

    #[test]
    fn differences_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let (committed, built) = (folder.path().join("committed"), folder.path().join("built"));
        for folder in [&committed, &built] {
            fs::create_dir(folder).unwrap();
            fs::write(folder.join("a.ptx"), "one\ntwo\n").unwrap();
        }
        let old = manifest(&[("a", "one\ntwo\n")]);
        let check =
            |old: &Manifest, new: &Manifest| check(&committed, &built, old, new).map_err(|error| error.to_string());
        assert_eq!(check(&old, &old), Ok(()));
        let sources = Manifest { sources: BTreeMap::from([("x".to_owned(), "y".to_owned())]), ..old.clone() };
        assert_eq!(check(&old, &sources), Ok(()));
        let lying = check(&manifest(&[("a", "another")]), &old).unwrap_err();
        assert!(lying.contains("manifest.json doesn't describe"), "{lying}");

        let more = manifest(&[("a", "one\ntwo\n"), ("b", "")]);
        assert!(check(&old, &more).unwrap_err().contains("b.ptx isn't committed"));
        fs::write(committed.join("b.ptx"), "").unwrap();
        assert!(check(&more, &old).unwrap_err().contains("b.ptx belongs to no module"));

        fs::write(built.join("a.ptx"), "one\n2\n").unwrap();
        let new = manifest(&[("a", "one\n2\n")]);
        let differs = check(&old, &new).unwrap_err();
        assert!(differs.contains("a.ptx, line 2: committed `two`, built `2`"), "{differs}");
        assert!(!differs.contains("isn't installed"), "{differs}");
        let other = Manifest { rustc: "rustc 2".to_owned(), ..new };
        assert!(check(&old, &other).unwrap_err().contains("built with rustc 1, LLVM 22, which isn't installed"));
    }
}
