//! The builder.

use crate::arch::Arch;
use crate::error::Error;
use crate::link::{self, Job};
use crate::ptx;
use crate::sources;
use crate::toolchain::Toolchain;
use crate::{archive, cargo};
use std::path::{Path, PathBuf};
use std::{env, fs};

/// Builds one crate of kernels to one file of PTX.
///
/// The crate is `no_std`, has a library target and a panic handler, and its kernels are
/// `#[unsafe(no_mangle)] pub unsafe extern "ptx-kernel" fn`. It lies outside of any workspace that is built for the host.
///
/// Whatever the crate's profile says, it is built optimised, without debug information, and panics don't unwind. Products
/// and sums are never contracted to fused operations; division and square root are correctly rounded.
#[derive(Clone, Debug)]
pub struct CudaBuilder {
    krate: PathBuf,
    arch: Arch,
    copy_to: Option<PathBuf>,
    target_dir: Option<PathBuf>,
    features: Option<Vec<String>>,
    toolchain: Option<Toolchain>,
    bit_exact: bool,
    locked: bool,
}

/// What [`CudaBuilder::build`] has built.
#[derive(Clone, Debug)]
pub struct Ptx {
    /// The file.
    pub path: PathBuf,
    /// What is in it.
    pub text: String,
    /// Its kernels, by name.
    pub kernels: Vec<ptx::Kernel>,
    /// The crate's sources and those of its dependencies by path, manifests and lock file too; sorted.
    pub sources: Vec<PathBuf>,
    /// What built it.
    pub toolchain: Toolchain,
}

impl CudaBuilder {
    /// Builds the crate in the folder `krate`.
    pub fn new(krate: impl Into<PathBuf>) -> Self {
        Self {
            krate: krate.into(),
            arch: Arch::default(),
            copy_to: None,
            target_dir: None,
            features: None,
            toolchain: None,
            bit_exact: false,
            locked: false,
        }
    }

    /// The oldest architecture that the PTX has to run on; by default [`Arch::Sm75`].
    #[must_use]
    pub fn arch(mut self, arch: Arch) -> Self {
        self.arch = arch;
        self
    }

    /// Writes the PTX to `path`; by default it lies in the target folder.
    #[must_use]
    pub fn copy_to(mut self, path: impl Into<PathBuf>) -> Self {
        self.copy_to = Some(path.into());
        self
    }

    /// Where cargo builds; by default a folder in the build script's `OUT_DIR`, or else `target/cuda-builder` of the crate.
    #[must_use]
    pub fn target_dir(mut self, path: impl Into<PathBuf>) -> Self {
        self.target_dir = Some(path.into());
        self
    }

    /// These features of the crate and no others; by default its default ones. One crate can so give several files.
    #[must_use]
    pub fn features<S: Into<String>>(mut self, features: impl IntoIterator<Item = S>) -> Self {
        self.features = Some(features.into_iter().map(Into::into).collect());
        self
    }

    /// Builds with `toolchain`; by default with what [`Toolchain::find`] finds.
    #[must_use]
    pub fn toolchain(mut self, toolchain: Toolchain) -> Self {
        self.toolchain = Some(toolchain);
        self
    }

    /// Refuses PTX with an instruction that isn't correctly rounded: approximations, flushing of subnormals, and
    /// operations that the driver may contract.
    #[must_use]
    pub fn bit_exact(mut self, yes: bool) -> Self {
        self.bit_exact = yes;
        self
    }

    /// Refuses to change the crate's lock file.
    #[must_use]
    pub fn locked(mut self, yes: bool) -> Self {
        self.locked = yes;
        self
    }

    /// Builds. What the compiler says is shown as it comes.
    ///
    /// # Errors
    /// [`Error::NoToolchain`]; [`Error::Failed`] if the crate doesn't compile; [`Error::NoKernels`];
    /// [`Error::Unresolved`]; [`Error::NotExact`] if [`bit_exact`](Self::bit_exact) was asked for; [`Error::File`].
    /// `copy_to`'s file is then as it was.
    pub fn build(&self) -> Result<Ptx, Error> {
        let toolchain = self.toolchain.clone().map_or_else(Toolchain::find, Ok)?;
        let krate = fs::canonicalize(&self.krate).map_err(Error::file("find", &self.krate))?;
        let target_dir = self.target_dir.clone().unwrap_or_else(|| default_target_dir(&krate));
        fs::create_dir_all(&target_dir).map_err(Error::file("create", &target_dir))?;
        let target_dir = fs::canonicalize(&target_dir).map_err(Error::file("find", &target_dir))?;

        let built = cargo::build(&cargo::Job {
            toolchain: &toolchain,
            krate: &krate,
            target_dir: &target_dir,
            arch: self.arch,
            features: self.features.as_deref(),
            locked: self.locked,
        })?;
        let work = target_dir.join("link");
        let objects = archive::extract(&toolchain.llvm, &built.rlibs, &work)?;
        let kernels = link::kernels(&toolchain.llvm, &objects.own)?;
        if kernels.is_empty() {
            return Err(Error::NoKernels { krate });
        }
        let linked = link::link(&Job {
            llvm: &toolchain.llvm,
            arch: self.arch,
            objects: &objects,
            kernels: &kernels,
            work: &work,
        })?;
        let text = fs::read_to_string(&linked).map_err(Error::file("read", &linked))?;
        ptx::check_resolved(&text)?;
        if self.bit_exact {
            ptx::check_exact(&text)?;
        }

        let path = self.copy_to.clone().unwrap_or_else(|| target_dir.join(format!("{}.ptx", built.name)));
        write_if_changed(&path, &text)?;
        let sources = sources::of(&krate, &built)?;
        let kernels = ptx::kernels(&text);
        Ok(Ptx { path, text, kernels, sources, toolchain })
    }
}

impl Ptx {
    /// Asks cargo to run the build script again when one of the sources has changed. For build scripts.
    pub fn print_rerun_if_changed(&self) {
        for path in &self.sources {
            println!("cargo::rerun-if-changed={}", path.display());
        }
    }
}

fn default_target_dir(krate: &Path) -> PathBuf {
    let of_script = env::var_os("OUT_DIR").map(|out| PathBuf::from(out).join("cuda-builder"));
    of_script.unwrap_or_else(|| krate.join("target").join("cuda-builder"))
}

/// A file that is as it should be keeps its time, so that nothing is built again because of it. Otherwise it is replaced
/// as a whole.
fn write_if_changed(path: &Path, text: &str) -> Result<(), Error> {
    if fs::read_to_string(path).is_ok_and(|old| old == text) {
        return Ok(());
    }
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        fs::create_dir_all(folder).map_err(Error::file("create", folder))?;
    }
    let mut new = path.as_os_str().to_owned();
    new.push(".new");
    let new = PathBuf::from(new);
    fs::write(&new, text).map_err(Error::file("write", &new))?;
    fs::rename(&new, path).map_err(Error::file("replace", path))
}
