//! The table of kernels against the PTX.
#![cfg(feature = "cuda")]

use gpu::kernels::contracts;
use gpu::{Block, Kind};
use std::collections::{BTreeSet, HashMap};
use std::path::Path;

/// Parameters of a module's kernels as the PTX declares them: `u64 pointer`, `u64`, `u32`, ...
fn declared(module: &str) -> HashMap<String, Vec<String>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("ptx").join(module).with_extension("ptx");
    let text = std::fs::read_to_string(path).unwrap();
    let mut kernels = HashMap::new();
    for entry in text.split(".visible .entry ").skip(1) {
        let (name, rest) = entry.split_once('(').unwrap();
        let (parameters, _) = rest.split_once(')').unwrap();
        let parameters = parameters.split(',').map(|line| {
            let words: Vec<_> = line.split_whitespace().collect();
            assert_eq!(words[0], ".param", "{line}");
            let pointer = if words.contains(&".ptr") { " pointer" } else { "" };
            format!("{}{pointer}", words[1].trim_start_matches('.'))
        });
        kernels.insert(name.to_owned(), parameters.collect());
    }
    kernels
}

#[test]
fn the_table_agrees_with_the_ptx() {
    let mut modules = HashMap::new();
    for contract in contracts() {
        let kernels = modules.entry(contract.module).or_insert_with(|| declared(contract.module));
        let expected = kernels.get(contract.name).unwrap_or_else(|| panic!("{} isn't in the PTX", contract.name));
        let table: Vec<_> = contract
            .parameters
            .iter()
            .map(|parameter| match parameter.kind {
                Kind::Pointer { .. } => "u64 pointer".to_owned(),
                kind => kind.ptx().to_owned(),
            })
            .collect();
        assert_eq!(table, *expected, "{}", contract.name);
    }
    // Kernels that this crate has no struct for can't be launched; those of these modules all have one.
    let known: BTreeSet<_> = contracts().map(|contract| contract.name.to_owned()).collect();
    assert_eq!(known.len(), contracts().count(), "a kernel is listed twice");
    for (module, kernels) in &modules {
        let missing: Vec<_> = kernels.keys().filter(|name| !known.contains(*name)).collect();
        assert!(missing.is_empty(), "kernels of `{module}` without a contract: {missing:?}");
    }
    // `map` is for tests of the compiler.
    for entry in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("ptx")).unwrap() {
        let path = entry.unwrap().path();
        let module = path.file_stem().unwrap().to_string_lossy().into_owned();
        let known = module == "map" || modules.contains_key(module.as_str());
        assert!(known || path.extension().unwrap() != "ptx", "module `{module}` has no contracts");
    }
}

#[test]
fn blocks_are_whole_warps() {
    for contract in contracts() {
        let widths = match contract.block {
            Block::Any { usual, most } => vec![usual, most],
            Block::Exactly(width) => vec![width],
        };
        for width in widths {
            assert!(width > 0 && width.is_multiple_of(32) && width <= 1024, "{}: {width}", contract.name);
        }
        let written = |kind| matches!(kind, Kind::Pointer { written: true, .. });
        assert!(contract.parameters.iter().any(|parameter| written(parameter.kind)), "{} has no result", contract.name);
    }
}
