//! Bitcode to PTX: linked, optimised as a whole, translated.

use crate::arch::Arch;
use crate::archive::Objects;
use crate::error::Error;
use crate::process::{command, output, stdout};
use crate::toolchain::Llvm;
use std::path::{Path, PathBuf};

/// What to link.
pub(crate) struct Job<'a> {
    pub(crate) llvm: &'a Llvm,
    pub(crate) arch: Arch,
    pub(crate) objects: &'a Objects,
    /// Symbols that stay.
    pub(crate) kernels: &'a [String],
    /// Folder for what is made on the way.
    pub(crate) work: &'a Path,
}

/// The names of the kernels in `objects`.
pub(crate) fn kernels(llvm: &Llvm, objects: &[PathBuf]) -> Result<Vec<String>, Error> {
    let mut kernels = Vec::new();
    for object in objects {
        let text = stdout(command(llvm.program("llvm-dis")).arg(object).args(["-o", "-"]))?;
        kernels.extend(text.lines().filter_map(kernel).map(str::to_owned));
    }
    kernels.sort();
    Ok(kernels)
}

/// The name in a line of LLVM's language that begins the definition of a kernel.
fn kernel(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("define ")?;
    let (before, rest) = rest.split_once('@')?;
    let (name, _) = rest.split_once('(')?;
    let hidden = before.split_whitespace().any(|word| word == "internal" || word == "private");
    (before.split_whitespace().any(|word| word == "ptx_kernel") && !hidden).then_some(name)
}

/// The file of PTX.
pub(crate) fn link(job: &Job<'_>) -> Result<PathBuf, Error> {
    let file = |name: &str| job.work.join(name);
    let (linked, optimised, ptx) = (file("linked.bc"), file("optimised.bc"), file("kernels.ptx"));
    output(
        command(job.llvm.program("llvm-link")).args(&job.objects.own).args(&job.objects.others).arg("-o").arg(&linked),
    )?;
    output(
        command(job.llvm.program("opt"))
            // strip: names of what isn't exported hold hashes of paths; without them they are numbered.
            .arg("-passes=internalize,globaldce,default<O3>,strip")
            .arg(format!("--internalize-public-api-list={}", job.kernels.join(",")))
            // A call costs a frame in local memory, which is DRAM: everything goes into the kernels.
            .arg("--inline-threshold=100000")
            .arg(format!("-mcpu={}", job.arch))
            .arg(&linked)
            .arg("-o")
            .arg(&optimised),
    )?;
    output(
        command(job.llvm.program("llc"))
            .arg("-O3")
            .arg(format!("-mcpu={}", job.arch))
            // No contraction, and the roundings of `div` and `sqrt` that IEEE asks for.
            .args(["--fp-contract=off", "--nvptx-fma-level=0", "--nvptx-prec-divf32=2", "--nvptx-prec-sqrtf32=1"])
            .arg(&optimised)
            .arg("-o")
            .arg(&ptx),
    )?;
    Ok(ptx)
}

#[cfg(test)]
mod tests {
    use super::kernel;

    #[test]
    fn definitions_of_kernels_are_told_from_others() {
        assert_eq!(kernel("define ptx_kernel void @add(ptr noundef %0) unnamed_addr #1 {"), Some("add"));
        assert_eq!(kernel("define dso_local ptx_kernel void @b_1() {"), Some("b_1"));
        assert_eq!(kernel("define internal ptx_kernel void @hidden() {"), None);
        assert_eq!(kernel("define void @_RNvC4core(ptr %0) {"), None);
        assert_eq!(kernel("declare ptx_kernel void @elsewhere()"), None);
        assert_eq!(kernel("; define ptx_kernel void @comment()"), None);
    }
}
