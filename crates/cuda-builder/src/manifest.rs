//! A file beside committed PTX that says where it comes from and what its kernels cost.

use crate::error::Error;
use crate::ptxas::Cost;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The manifest: JSON, with sorted keys.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// First line of `rustc -V`.
    pub rustc: String,
    /// Version of the LLVM tools.
    pub llvm: String,
    /// Version of the `ptxas` that told the costs.
    pub ptxas: String,
    /// The architecture that the PTX was built for.
    pub arch: String,
    /// SHA-256 of each source, by path with `/`.
    pub sources: BTreeMap<String, String>,
    /// The files of PTX, by module.
    pub modules: BTreeMap<String, Module>,
}

/// A file of PTX.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Module {
    /// Its SHA-256.
    pub sha256: String,
    /// Its size, in bytes.
    pub bytes: usize,
    /// Its kernels, by name.
    pub kernels: BTreeMap<String, KernelEntry>,
}

/// A kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelEntry {
    /// Types of its parameters, as [`ptx::Kernel`](crate::ptx::Kernel) spells them.
    pub parameters: Vec<String>,
    /// What it costs, by architecture.
    pub costs: BTreeMap<String, Cost>,
}

impl Manifest {
    /// Reads `path`.
    ///
    /// # Errors
    /// [`Error::File`] if it can't be read or isn't a manifest.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let text = fs::read_to_string(path).map_err(Error::file("read", path))?;
        serde_json::from_str(&text).map_err(|error| Error::file("understand", path)(error.into()))
    }

    /// Its text, with a newline at the end.
    ///
    /// # Errors
    /// [`Error::Output`], which can't happen with the types of its fields.
    pub fn text(&self) -> Result<String, Error> {
        let text = serde_json::to_string_pretty(self);
        let text = text.map_err(|error| Error::Output { program: "serde_json", text: error.to_string() })?;
        Ok(text + "\n")
    }
}

/// SHA-256 in hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_the_standard() {
        assert_eq!(sha256(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }

    #[test]
    fn a_manifest_comes_back() {
        let cost = Cost { registers: 1, shared: 2, stack: 3, spill_stores: 4, spill_loads: 5 };
        let kernel =
            KernelEntry { parameters: vec!["u64".to_owned()], costs: BTreeMap::from([("sm_75".to_owned(), cost)]) };
        let module = Module { sha256: sha256(b"x"), bytes: 1, kernels: BTreeMap::from([("k".to_owned(), kernel)]) };
        let manifest = Manifest {
            rustc: "rustc 1".to_owned(),
            llvm: "22".to_owned(),
            ptxas: "13".to_owned(),
            arch: "sm_75".to_owned(),
            sources: BTreeMap::from([("src/lib.rs".to_owned(), sha256(b"y"))]),
            modules: BTreeMap::from([("m".to_owned(), module)]),
        };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("manifest.json");
        fs::write(&path, manifest.text().unwrap()).unwrap();
        assert_eq!(Manifest::read(&path).unwrap(), manifest);
        fs::write(&path, "{}").unwrap();
        assert!(matches!(Manifest::read(&path), Err(Error::File { operation: "understand", .. })));
    }
}
