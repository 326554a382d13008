//! Builds crates of kernels, where there is a toolchain. Where there is none the test says so and passes; with
//! `CUDA_BUILDER_REQUIRED` set, as where toolchains are installed on purpose, it fails.

use cuda_builder::{Arch, CudaBuilder, Error, Ptxas, Toolchain};
use std::fs;
use std::io::Write as _;
use std::path::Path;

const LIB: &str = include_str!("../examples/kernels/src/lib.rs");

fn toolchain() -> Option<Toolchain> {
    match Toolchain::find() {
        Ok(toolchain) => Some(toolchain),
        Err(error) if std::env::var_os("CUDA_BUILDER_REQUIRED").is_some() => panic!("{error}"),
        Err(error) => {
            // Past the harness, which would keep it to itself.
            let _ = writeln!(std::io::stderr(), "\nSKIPPED, NOTHING WAS BUILT: {error}");
            None
        }
    }
}

fn write_crate(folder: &Path, lib: &str) {
    fs::create_dir_all(folder.join("src")).unwrap();
    fs::write(folder.join("Cargo.toml"), include_str!("../examples/kernels/Cargo.toml")).unwrap();
    fs::write(folder.join("src/lib.rs"), lib).unwrap();
}

/// One test, so that `core` is compiled once.
#[test]
fn a_crate_becomes_ptx() {
    let Some(toolchain) = toolchain() else { return };
    let work = tempfile::tempdir().unwrap();
    let (first, second) = (work.path().join("first"), work.path().join("a/second one"));
    let target = work.path().join("target");
    let builder = |krate: &Path| CudaBuilder::new(krate).toolchain(toolchain.clone()).target_dir(&target);

    write_crate(&first, LIB);
    let copy = work.path().join("out/kernels.ptx");
    let ptx = builder(&first).copy_to(&copy).bit_exact(true).build().unwrap();
    assert_eq!(fs::read_to_string(&copy).unwrap(), ptx.text);
    assert_eq!(ptx.kernels.len(), 1);
    assert_eq!(ptx.kernels[0].name, "axpy_f32");
    assert_eq!(ptx.kernels[0].parameters, ["f32", "u64", "u64", "u32"]);
    assert!(ptx.text.contains(".target sm_75"));
    assert!(ptx.text.contains("mul.rn.f32") && ptx.text.contains("add.rn.f32"), "contracted:\n{}", ptx.text);
    let first = fs::canonicalize(&first).unwrap();
    assert_eq!(ptx.sources, ["Cargo.lock", "Cargo.toml", "src/lib.rs"].map(|file| first.join(file)));

    // The same bytes from another folder, and a file that is as it should be isn't touched.
    let time = fs::metadata(&copy).unwrap().modified().unwrap();
    write_crate(&second, LIB);
    let again = builder(&second).copy_to(&copy).build().unwrap();
    assert_eq!(again.text, ptx.text);
    assert_eq!(fs::metadata(&copy).unwrap().modified().unwrap(), time);

    // A crate that can't be built leaves the file alone.
    for (from, to) in [("extern \"ptx-kernel\"", "extern \"C\""), ("a * *x", "b * *x")] {
        write_crate(&second, &LIB.replace(from, to));
        let error = builder(&second).copy_to(&copy).build().unwrap_err();
        assert!(matches!(error, Error::NoKernels { .. } | Error::Failed { .. }), "{error}");
        assert_eq!(fs::read_to_string(&copy).unwrap(), ptx.text);
    }
    let lib =
        LIB.replace("a * *x.add(i)", "elsewhere(*x.add(i))") + "unsafe extern \"C\" { fn elsewhere(x: f32) -> f32; }";
    write_crate(&second, &lib);
    let error = builder(&second).build().unwrap_err();
    assert!(matches!(&error, Error::Unresolved { symbol, .. } if symbol == "elsewhere"), "{error}");
    let approximate = "{
            let y: f32;
            core::arch::asm!(\"ex2.approx.f32 {}, {};\", out(reg32) y, in(reg32) a);
            y
        }";
    let lib = LIB.replace("a * *x.add(i)", approximate).replace("abi_ptx,", "abi_ptx, asm_experimental_arch,");
    write_crate(&second, &lib);
    assert!(builder(&second).build().unwrap().text.contains("ex2.approx.f32"));
    let error = builder(&second).bit_exact(true).build().unwrap_err();
    assert!(matches!(&error, Error::NotExact { instruction, .. } if instruction.starts_with("ex2")), "{error}");

    match Ptxas::find(&[]) {
        Ok(ptxas) => {
            for arch in [Arch::Sm75, Arch::Sm80, Arch::Sm90, Arch::Sm100] {
                let costs = ptxas.assemble(&copy, arch).unwrap();
                let cost = costs["axpy_f32"];
                assert!(cost.registers > 0 && cost.stack == 0 && cost.spill_stores == 0, "{arch}: {cost:?}");
            }
            fs::write(&copy, ptx.text.replace("add.rn.f32", "add.nonsense.f32")).unwrap();
            assert!(matches!(ptxas.assemble(&copy, Arch::Sm75), Err(Error::Failed { .. })));
        }
        Err(error) => drop(writeln!(std::io::stderr(), "\nSKIPPED, NOTHING WAS ASSEMBLED: {error}")),
    }
}
