//! What this program, the driver that it has loaded, and CUDA ask of each other.
#![cfg(feature = "cuda")]

use object::elf::{DT_NEEDED, DT_SONAME, FileHeader64};
use object::read::elf::{Dyn, ElfFile64, FileHeader, SectionHeader};
use object::{Endianness, Object, ObjectSymbol};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The strings of an ELF file's dynamic section that have this tag.
fn dynamic_strings(file: &[u8], tag: u32) -> Vec<String> {
    let header = FileHeader64::<Endianness>::parse(file).unwrap();
    let endian = header.endian().unwrap();
    let sections = header.sections(endian, file).unwrap();
    let mut found = Vec::new();
    for section in sections.iter() {
        let Some((entries, strings)) = section.dynamic(endian, file).unwrap() else { continue };
        let strings = sections.strings(endian, file, strings).unwrap();
        for entry in entries.iter().filter(|entry| entry.tag32(endian) == Some(tag)) {
            found.push(String::from_utf8_lossy(entry.string(endian, strings).unwrap()).into_owned());
        }
    }
    found
}

fn is_driver_function(name: &str) -> bool {
    name.starts_with("cu") && name[2..].starts_with(|first: char| first.is_ascii_uppercase())
}

/// The driver's functions among the dynamic symbols: what is asked for, and what there is.
fn driver_functions(file: &[u8]) -> (BTreeSet<String>, BTreeSet<String>) {
    let file = ElfFile64::<Endianness>::parse(file).unwrap();
    let names = |undefined| {
        let symbols = file.dynamic_symbols().filter(move |symbol| symbol.is_undefined() == undefined);
        let names = symbols.map(|symbol| symbol.name().unwrap().to_owned());
        names.filter(|name| is_driver_function(name)).collect()
    };
    (names(true), names(false))
}

/// The library that the system's loader gave this process as the driver.
fn loaded_driver() -> PathBuf {
    gpu::Device::count().unwrap();
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    let paths = maps.lines().filter_map(|line| line.split_once('/')).map(|(_, path)| format!("/{path}"));
    let mut drivers = paths
        .map(PathBuf::from)
        .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("libcuda.so")));
    drivers.next().unwrap()
}

#[test]
fn the_program_needs_no_driver_to_start() {
    let program = fs::read(std::env::current_exe().unwrap()).unwrap();
    assert!(gpu::forwarded().len() > 0);
    let needed = dynamic_strings(&program, DT_NEEDED);
    assert!(needed.iter().any(|name| name.starts_with("libc.so")), "{needed:?}");
    assert!(!needed.iter().any(|name| name.contains("cuda")), "{needed:?}");
    assert_eq!(driver_functions(&program).0, BTreeSet::new());
}

#[test]
fn the_driver_has_its_name_and_all_functions() {
    let path = loaded_driver();
    let driver = fs::read(&path).unwrap();
    assert_eq!(dynamic_strings(&driver, DT_SONAME), ["libcuda.so.1"], "{}", path.display());
    let (_, exported) = driver_functions(&driver);
    let missing: Vec<_> = gpu::forwarded().filter(|&name| !exported.contains(name)).collect();
    assert_eq!(missing, Vec::<&str>::new(), "{}", path.display());
}

#[test]
fn the_library_to_link_to_has_nothing() {
    // So a function that cust or this crate calls and that isn't among ours would leave this test without a program.
    let names: Vec<_> = gpu::forwarded().collect();
    assert!(names.is_sorted_by(|a, b| a < b));
    let empty = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("link/lib64/libcuda.a")).unwrap();
    assert_eq!(empty, b"!<arch>\n");
}
