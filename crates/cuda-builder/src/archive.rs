//! Bitcode out of rlibs.

use crate::error::Error;
use crate::process::{command, output};
use crate::toolchain::Llvm;
use std::fs;
use std::path::{Path, PathBuf};

/// Files of bitcode.
pub(crate) struct Objects {
    /// Of the kernel crate.
    pub(crate) own: Vec<PathBuf>,
    /// Of its dependencies.
    pub(crate) others: Vec<PathBuf>,
}

/// Unpacks `rlibs`, of which the first is the kernel crate's, into folders of `work`, which is emptied before.
pub(crate) fn extract(llvm: &Llvm, rlibs: &[PathBuf], work: &Path) -> Result<Objects, Error> {
    if work.exists() {
        fs::remove_dir_all(work).map_err(Error::file("remove", work))?;
    }
    let mut objects = Objects { own: Vec::new(), others: Vec::new() };
    for (i, rlib) in rlibs.iter().enumerate() {
        let folder = work.join(i.to_string());
        fs::create_dir_all(&folder).map_err(Error::file("create", &folder))?;
        output(command(llvm.program("llvm-ar")).arg("x").arg(rlib).current_dir(&folder))?;
        let mut files = Vec::new();
        for entry in fs::read_dir(&folder).map_err(Error::file("read", &folder))? {
            let path = entry.map_err(Error::file("read", &folder))?.path();
            if is_bitcode(&path)? {
                files.push(path);
            }
        }
        files.sort();
        if i == 0 { objects.own = files } else { objects.others.append(&mut files) }
    }
    Ok(objects)
}

/// An rlib also holds the crate's metadata.
fn is_bitcode(path: &Path) -> Result<bool, Error> {
    let bytes = fs::read(path).map_err(Error::file("read", path))?;
    Ok(bytes.starts_with(b"BC\xc0\xde"))
}
