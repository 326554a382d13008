//! `cargo xtask ptx`: the committed PTX and its manifest.
//!
//! `kernels-gpu` has a feature for each module; each is built to a file of its own. The PTX is assembled for all
//! architectures that are promised; a kernel that uses local memory is refused, since that is DRAM.

mod compare;
mod sources;

use anyhow::{Context as _, Result, bail};
use clap::Args;
use cuda_builder::manifest::{KernelEntry, Manifest, Module, sha256};
use cuda_builder::{Arch, Cost, CudaBuilder, Error, Ptx, Ptxas, Toolchain, ptx};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// What the PTX is assembled for, to see that it can be and what it costs.
const ASSEMBLED_FOR: [Arch; 4] = [Arch::Sm75, Arch::Sm80, Arch::Sm90, Arch::Sm100];

#[derive(Args)]
pub(crate) struct Arguments {
    /// Writes nothing; fails if the committed PTX isn't what its sources give.
    #[arg(long)]
    check: bool,
    /// Compares nothing but the hashes of the sources with the manifest's: needs neither compiler nor assembler.
    #[arg(long, conflicts_with = "check")]
    check_sources: bool,
    /// The oldest architecture that the PTX has to run on.
    #[arg(long, default_value_t)]
    arch: Arch,
}

/// Where things are.
struct Places {
    root: PathBuf,
    krate: PathBuf,
    /// The committed PTX.
    committed: PathBuf,
    target: PathBuf,
}

impl Places {
    fn new() -> Result<Self> {
        // Cargo's at run time, as long as it is cargo that runs this: two checkouts may share a target folder.
        let own =
            std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
        let root = own.join("../..");
        let root = fs::canonicalize(&root).with_context(|| format!("no repository at {}", root.display()))?;
        let krate = root.join("kernels-gpu");
        let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
        Ok(Self { committed: krate.join("ptx"), target: root.join(target).join("ptx"), root, krate })
    }

    fn manifest(&self) -> PathBuf {
        self.committed.join("manifest.json")
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let places = Places::new()?;
    let committed = Manifest::read(&places.manifest());
    if arguments.check_sources {
        return sources::check(&places.root, &committed?);
    }
    let toolchain = choose(committed.as_ref().ok())?;
    let ptxas = Ptxas::find(&in_target(&places.root))?;
    println!("{}, LLVM {}, ptxas {}", toolchain.rustc.name, toolchain.llvm.version, ptxas.version);
    let folder = if arguments.check { places.target.join("built") } else { places.committed.clone() };
    let manifest = build(&places, arguments.arch, &toolchain, &ptxas, &folder)?;
    report(&manifest);
    refuse_local_memory(&manifest)?;
    if arguments.check {
        return compare::check(&places.committed, &folder, &committed?, &manifest);
    }
    fs::write(places.manifest(), manifest.text()?)?;
    remove_others(&places.committed, &manifest)
}

/// Of the usable toolchains the one that built the committed PTX, or else the first.
fn choose(committed: Option<&Manifest>) -> Result<Toolchain, Error> {
    let (found, rejected) = Toolchain::find_all();
    let same = |toolchain: &&Toolchain| {
        committed
            .is_some_and(|manifest| manifest.rustc == toolchain.rustc.name && manifest.llvm == toolchain.llvm.version)
    };
    let chosen = found.iter().find(same).or_else(|| found.first()).cloned();
    chosen.ok_or(Error::NoToolchain { rejected })
}

/// Where `.ci/install-gpu-toolchain` puts the assembler.
fn in_target(root: &Path) -> Vec<PathBuf> {
    let versions = root.join("target/ptxas/lib").read_dir();
    let versions = versions.into_iter().flatten().flatten();
    versions.map(|python| python.path().join("site-packages/nvidia/cu13/bin/ptxas")).collect()
}

/// Builds all modules into `folder`.
fn build(places: &Places, arch: Arch, toolchain: &Toolchain, ptxas: &Ptxas, folder: &Path) -> Result<Manifest> {
    let mut modules = BTreeMap::new();
    let mut used = BTreeSet::new();
    for name in module_names(&places.krate)? {
        let ptx = CudaBuilder::new(&places.krate)
            .toolchain(toolchain.clone())
            .arch(arch)
            .features([name.as_str()])
            .target_dir(&places.target)
            .copy_to(folder.join(format!("{name}.ptx")))
            .bit_exact(true)
            .locked(true)
            .build()
            .with_context(|| format!("module {name}"))?;
        let functions = ptx::functions(&ptx.text);
        if !functions.is_empty() {
            bail!("module {name}: called instead of inlined: {}; most often that is a panic", functions.join(", "));
        }
        modules.insert(name.clone(), assemble(&ptx, ptxas).with_context(|| format!("module {name}"))?);
        used.extend(ptx.sources);
    }
    Ok(Manifest {
        rustc: toolchain.rustc.name.clone(),
        llvm: toolchain.llvm.version.clone(),
        ptxas: ptxas.version.clone(),
        arch: arch.to_string(),
        sources: sources::hashes(&places.root, &used)?,
        modules,
    })
}

/// The features of the crate, each of which is a module; not `default`.
fn module_names(krate: &Path) -> Result<Vec<String>> {
    let path = krate.join("Cargo.toml");
    let text = fs::read_to_string(&path).with_context(|| format!("can't read {}", path.display()))?;
    let manifest: toml::Table = text.parse().with_context(|| format!("can't read {}", path.display()))?;
    let features = manifest.get("features").and_then(|features| features.as_table());
    let features = features.with_context(|| format!("{} has no features", path.display()))?;
    Ok(features.keys().filter(|name| *name != "default").cloned().collect())
}

fn assemble(ptx: &Ptx, ptxas: &Ptxas) -> Result<Module> {
    let mut kernels: BTreeMap<_, _> = ptx
        .kernels
        .iter()
        .map(|kernel| {
            let entry = KernelEntry { parameters: kernel.parameters.clone(), costs: BTreeMap::new() };
            (kernel.name.clone(), entry)
        })
        .collect();
    for arch in ASSEMBLED_FOR {
        let costs = ptxas.assemble(&ptx.path, arch).with_context(|| format!("for {arch}"))?;
        for (name, entry) in &mut kernels {
            let cost = costs.get(name).with_context(|| format!("ptxas tells nothing of {name} for {arch}"))?;
            entry.costs.insert(arch.to_string(), *cost);
        }
    }
    Ok(Module { sha256: sha256(ptx.text.as_bytes()), bytes: ptx.text.len(), kernels })
}

fn report(manifest: &Manifest) {
    for (name, module) in &manifest.modules {
        println!("{name}: {} bytes", module.bytes);
        for (kernel, entry) in &module.kernels {
            let registers: Vec<_> =
                entry.costs.iter().map(|(arch, cost)| format!("{arch} {}", cost.registers)).collect();
            let shared = entry.costs.values().map(|cost| cost.shared).max().unwrap_or(0);
            println!("    {kernel}: registers {}; shared {shared} bytes", registers.join(", "));
        }
    }
}

fn refuse_local_memory(manifest: &Manifest) -> Result<()> {
    let mut refused = Vec::new();
    for module in manifest.modules.values() {
        for (kernel, entry) in &module.kernels {
            for (arch, cost) in &entry.costs {
                let Cost { stack, spill_stores, spill_loads, .. } = *cost;
                if stack + spill_stores + spill_loads > 0 {
                    refused.push(format!(
                        "{kernel} ({arch}): stack {stack}, spills {spill_stores} and {spill_loads} bytes"
                    ));
                }
            }
        }
    }
    if refused.is_empty() { Ok(()) } else { bail!("kernels use local memory:\n  {}", refused.join("\n  ")) }
}

/// Removes PTX of modules that there are no longer.
fn remove_others(folder: &Path, manifest: &Manifest) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if path.extension().is_some_and(|extension| extension == "ptx") && !manifest.modules.contains_key(&name) {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}
