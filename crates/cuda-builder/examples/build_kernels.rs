//! Builds the crate of kernels beside this file and shows what it became:
//!
//!     cargo run -p lockstep-cuda-builder --example build_kernels [sm_80]
//!
//! A build script does the same, with `copy_to` into its `OUT_DIR`, and the program has the result by
//! `include_str!(concat!(env!("OUT_DIR"), "/kernels.ptx"))`.

use cuda_builder::{Arch, CudaBuilder};
use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let arch: Arch = std::env::args().nth(1).map_or(Ok(Arch::default()), |name| name.parse())?;
    let krate = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/kernels");
    let target = std::env::temp_dir().join("cuda-builder-example");
    let ptx = CudaBuilder::new(krate).arch(arch).target_dir(target).build()?;
    println!("{}", ptx.text);
    println!("// {} with {}, LLVM {}", ptx.path.display(), ptx.toolchain.rustc.name, ptx.toolchain.llvm.version);
    for kernel in &ptx.kernels {
        println!("// {}({})", kernel.name, kernel.parameters.join(", "));
    }
    Ok(())
}
