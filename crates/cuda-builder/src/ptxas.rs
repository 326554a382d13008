//! NVIDIA's assembler, which knows what a kernel costs.

use crate::arch::Arch;
use crate::error::Error;
use crate::process::{command, output, stdout};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::env;
use std::path::{Path, PathBuf};

/// `ptxas`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ptxas {
    /// The program.
    pub program: PathBuf,
    /// Its version.
    pub version: String,
}

/// What a kernel takes of a GPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cost {
    /// 32-bit registers a thread.
    pub registers: u32,
    /// Static shared memory a block, in bytes.
    pub shared: u32,
    /// Local memory a thread, in bytes: arrays with indices that aren't constants, calls, and spills.
    pub stack: u32,
    /// Bytes a thread writes because registers don't suffice.
    pub spill_stores: u32,
    /// Bytes a thread reads back.
    pub spill_loads: u32,
}

impl Ptxas {
    /// The first of: `PTXAS`, `bin` of `CUDA_HOME` and `CUDA_PATH`, `more`, the path, `/usr/local/cuda/bin`.
    ///
    /// # Errors
    /// [`Error::NoPtxas`], which says what to install.
    pub fn find(more: &[PathBuf]) -> Result<Self, Error> {
        let name = format!("ptxas{}", env::consts::EXE_SUFFIX);
        let mut looked_at: Vec<PathBuf> = env::var_os("PTXAS").map(PathBuf::from).into_iter().collect();
        let homes = ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(env::var_os);
        looked_at.extend(homes.map(|home| PathBuf::from(home).join("bin").join(&name)));
        looked_at.extend(more.iter().cloned());
        looked_at.extend(env::var_os("PATH").iter().flat_map(env::split_paths).map(|folder| folder.join(&name)));
        looked_at.push(Path::new("/usr/local/cuda/bin").join(&name));
        match looked_at.iter().find(|program| program.is_file()) {
            Some(program) => Self::at(program.clone()),
            None => Err(Error::NoPtxas { looked_at }),
        }
    }

    /// The one at `program`.
    ///
    /// # Errors
    /// [`Error::Start`], [`Error::Failed`] or [`Error::Output`] if it isn't one.
    pub fn at(program: PathBuf) -> Result<Self, Error> {
        let said = stdout(command(&program).arg("--version"))?;
        let version = version(&said).ok_or(Error::Output { program: "ptxas", text: said })?;
        Ok(Self { program, version })
    }

    /// Assembles the file `ptx` for `arch`; the costs of its kernels by name.
    ///
    /// # Errors
    /// [`Error::Failed`] with what is wrong with the PTX.
    pub fn assemble(&self, ptx: &Path, arch: Arch) -> Result<BTreeMap<String, Cost>, Error> {
        let null = if cfg!(windows) { "NUL" } else { "/dev/null" };
        let mut command = command(&self.program);
        command.args(["--verbose", "--output-file", null]).arg(format!("--gpu-name={arch}")).arg(ptx);
        let output = output(&mut command)?;
        // Versions differ in which of the two they write to.
        let said = [output.stdout, output.stderr].map(|said| String::from_utf8_lossy(&said).into_owned()).concat();
        costs(&said)
    }
}

/// The version in the output of `ptxas --version`.
fn version(said: &str) -> Option<String> {
    let (_, rest) = said.split_once(", V")?;
    Some(rest.split_whitespace().next()?.to_owned())
}

/// The costs in the output of `ptxas --verbose`.
fn costs(said: &str) -> Result<BTreeMap<String, Cost>, Error> {
    let mut costs = BTreeMap::new();
    let mut current: Option<(String, Cost)> = None;
    // Properties are also told of functions that aren't kernels.
    let mut of_kernel = false;
    for line in said.lines() {
        if let Some((_, rest)) = line.split_once("Compiling entry function '") {
            costs.extend(current.take());
            current = Some((rest.split('\'').next().unwrap_or_default().to_owned(), Cost::default()));
        } else if let Some((_, name)) = line.split_once("Function properties for ") {
            of_kernel = current.as_ref().is_some_and(|(kernel, _)| kernel == name.trim());
        } else if let Some((_, cost)) = &mut current {
            if line.contains("bytes stack frame") && of_kernel {
                cost.stack = number(line, "bytes stack frame")?;
                cost.spill_stores = number(line, "bytes spill stores")?;
                cost.spill_loads = number(line, "bytes spill loads")?;
            } else if line.contains(" registers") {
                cost.registers = number(line, "registers")?;
                cost.shared = if line.contains("bytes smem") { number(line, "bytes smem")? } else { 0 };
            }
        }
    }
    costs.extend(current);
    Ok(costs)
}

/// The number that stands before `unit`.
fn number(line: &str, unit: &str) -> Result<u32, Error> {
    let before = line.split_once(unit).map_or("", |(before, _)| before).trim_end();
    let number = before.rsplit(|c: char| !c.is_ascii_digit()).next().and_then(|number| number.parse().ok());
    number.ok_or_else(|| Error::Output { program: "ptxas", text: line.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_read() {
        // As ptxas 13.5 writes it; the stack of `helper` isn't the kernel's.
        let said = "\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'sum' for 'sm_75'
ptxas info    : Function properties for helper
    96 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Function properties for sum
    8 bytes stack frame, 12 bytes spill stores, 16 bytes spill loads
ptxas info    : Used 28 registers, used 1 barriers, 128 bytes smem, 372 bytes cmem[0], 128 bytes cmem[2]
ptxas info    : Compile time = 49.284 ms
ptxas info    : Compiling entry function 'add' for 'sm_75'
ptxas info    : Function properties for add
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 12 registers, used 0 barriers
";
        let sum = Cost { registers: 28, shared: 128, stack: 8, spill_stores: 12, spill_loads: 16 };
        let add = Cost { registers: 12, ..Cost::default() };
        assert_eq!(costs(said).unwrap(), BTreeMap::from([("sum".to_owned(), sum), ("add".to_owned(), add)]));
        assert!(costs("").unwrap().is_empty());
        let broken = "Compiling entry function 'k' for 'sm_75'\nUsed many registers\n";
        assert!(matches!(costs(broken), Err(Error::Output { program: "ptxas", .. })));
    }

    #[test]
    fn the_version_is_read() {
        let said =
            "ptxas: NVIDIA (R) Ptx optimizing assembler\nCuda compilation tools, release 13.5, V13.5.37\nBuild x\n";
        assert_eq!(version(said).as_deref(), Some("13.5.37"));
        assert_eq!(version("clang 19"), None);
    }
}
