//! Checkpoint files: named tensors and strings in one safetensors file, with a checksum over all of it.
//!
//! ```
//! use checkpoint::Checkpoint;
//!
//! let mut checkpoint = Checkpoint::new();
//! checkpoint.put("policy.decoder.bias", &[3], &[0.5_f32, -1.0, 2.0])?;
//! checkpoint.put("optimizer.step", &[], &[17_u64])?;
//! checkpoint.put_metadata("configuration", r#"{"seed":1}"#)?;
//! # let folder = tempfile::tempdir().unwrap();
//! # let path = folder.path().join("run.safetensors");
//! checkpoint.save_atomic(&path)?;
//!
//! let loaded = Checkpoint::load(&path)?;
//! assert_eq!(loaded.tensor::<f32>("policy.decoder.bias", &[3])?, [0.5, -1.0, 2.0]);
//! assert_eq!(loaded.scalar::<u64>("optimizer.step")?, 17);
//! assert_eq!(loaded.metadata("configuration")?, r#"{"seed":1}"#);
//! # Ok::<(), checkpoint::Error>(())
//! ```
//!
//! The layout is that of safetensors (8-byte little-endian length of the header, JSON header, data), so other programs
//! can read the tensors. A file that another program has written is refused: its checksum is missing or wrong.

mod atomic;
mod decode;
mod element;
mod encode;
mod error;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub use element::{Dtype, Element};
pub use error::Error;

/// First metadata key of a file, and the beginning of the header up to the checksum's 64 hexadecimal digits. Fixed, so
/// that a file is verified before any of it is parsed.
const PREFIX: &[u8] = br#"{"__metadata__":{"sha256":""#;
/// Length of the checksum in hexadecimal digits.
const DIGITS: usize = 64;
/// Bytes of the header's length.
const LENGTH: usize = 8;
/// Metadata keys of the format itself.
const RESERVED: [&str; 3] = ["sha256", "format", "format_version"];
/// What `format` says.
const FORMAT: &str = "lockstep-checkpoint";
/// What `format_version` says.
const VERSION: &str = "1";
/// Largest header, in bytes.
const HEADER_LIMIT: u64 = 1 << 24;
/// Largest file that [`Checkpoint::load`] reads, in bytes: 16 GiB.
const FILE_LIMIT: u64 = 1 << 34;

/// A tensor: elements in row-major order, little-endian.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Tensor {
    dtype: Dtype,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

/// Named tensors and strings, in memory. Equal checkpoints give equal bytes, in whatever order they were filled.
#[derive(Clone, Debug, Default)]
pub struct Checkpoint {
    tensors: BTreeMap<String, Tensor>,
    metadata: BTreeMap<String, String>,
    /// Where it was loaded from, for messages.
    origin: PathBuf,
}

/// Equality of the contents.
impl PartialEq for Checkpoint {
    fn eq(&self, other: &Self) -> bool {
        self.tensors == other.tensors && self.metadata == other.metadata
    }
}

impl Checkpoint {
    /// An empty one.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the tensor `name` of `shape`, with `data` in row-major order. A scalar has shape `[]`.
    ///
    /// # Errors
    /// [`Error::Name`] where the name is empty, taken or reserved, [`Error::Elements`] where `data` doesn't fit the
    /// shape. Nothing is added then.
    pub fn put<T: Element>(&mut self, name: &str, shape: &[usize], data: &[T]) -> Result<(), Error> {
        let wrong = |reason| Err(Error::Name { name: name.into(), reason });
        if name.is_empty() || name == "__metadata__" {
            return wrong("is not a name for a tensor");
        }
        if self.tensors.contains_key(name) {
            return wrong("is there already");
        }
        if shape.iter().try_fold(1_usize, |n, &d| n.checked_mul(d)) != Some(data.len()) {
            return Err(Error::Elements { tensor: name.into(), shape: shape.into(), got: data.len() });
        }
        let tensor = Tensor { dtype: T::DTYPE, shape: shape.into(), bytes: T::to_bytes(data) };
        self.tensors.insert(name.into(), tensor);
        Ok(())
    }

    /// Adds the string `value` under `key`.
    ///
    /// # Errors
    /// [`Error::Name`] where the key is taken or reserved (`sha256`, `format`, `format_version`).
    pub fn put_metadata(&mut self, key: &str, value: &str) -> Result<(), Error> {
        if RESERVED.contains(&key) {
            return Err(Error::Name { name: key.into(), reason: "is a key of the format itself" });
        }
        if self.metadata.contains_key(key) {
            return Err(Error::Name { name: key.into(), reason: "is there already" });
        }
        self.metadata.insert(key.into(), value.into());
        Ok(())
    }

    /// The names of the tensors, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tensors.keys().map(String::as_str)
    }

    /// Element type and shape of the tensor `name`.
    ///
    /// # Errors
    /// [`Error::MissingTensor`].
    pub fn info(&self, name: &str) -> Result<(Dtype, &[usize]), Error> {
        let tensor = self.find(name)?;
        Ok((tensor.dtype, &tensor.shape))
    }

    /// The tensor `name`, which must have elements of type `T` and this shape.
    ///
    /// # Errors
    /// [`Error::MissingTensor`], [`Error::Dtype`], [`Error::Shape`].
    pub fn tensor<T: Element>(&self, name: &str, shape: &[usize]) -> Result<Vec<T>, Error> {
        let tensor = self.find(name)?;
        self.check_dtype::<T>(name, tensor)?;
        if tensor.shape != shape {
            return Err(self.wrong_shape(name, &format!("{shape:?}"), &tensor.shape));
        }
        Ok(T::from_bytes(&tensor.bytes))
    }

    /// The tensor `name` with one dimension of any length, and elements of type `T`.
    ///
    /// # Errors
    /// [`Error::MissingTensor`], [`Error::Dtype`], [`Error::Shape`].
    pub fn vector<T: Element>(&self, name: &str) -> Result<Vec<T>, Error> {
        let tensor = self.find(name)?;
        self.check_dtype::<T>(name, tensor)?;
        if tensor.shape.len() != 1 {
            return Err(self.wrong_shape(name, "one dimension", &tensor.shape));
        }
        Ok(T::from_bytes(&tensor.bytes))
    }

    /// The scalar `name`, which must have type `T` and shape `[]`.
    ///
    /// # Errors
    /// [`Error::MissingTensor`], [`Error::Dtype`], [`Error::Shape`].
    pub fn scalar<T: Element>(&self, name: &str) -> Result<T, Error> {
        match self.tensor(name, &[])?.as_slice() {
            &[value] => Ok(value),
            _ => Err(self.wrong_shape(name, "[]", &[])),
        }
    }

    /// The string under `key`.
    ///
    /// # Errors
    /// [`Error::MissingMetadata`].
    pub fn metadata(&self, key: &str) -> Result<&str, Error> {
        let missing = || Error::MissingMetadata { path: self.origin.clone(), key: key.into() };
        self.metadata.get(key).map(String::as_str).ok_or_else(missing)
    }

    /// The file's bytes: a function of the contents alone.
    ///
    /// # Errors
    /// [`Error::TooLarge`] where the header (names, shapes, strings) takes more than 16 MiB.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        encode::encode(self)
    }

    /// Reads what [`to_bytes`](Self::to_bytes) gave.
    ///
    /// # Errors
    /// Those of [`load`](Self::load), with an empty path.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        decode::decode(Path::new(""), bytes)
    }

    /// Writes the file `path` as a whole or not at all: to a temporary file in the same folder, which is synchronized to
    /// the disk and renamed, whereupon the folder is synchronized. An older file of this name stays whole until it is
    /// replaced. (A symbolic link of this name is replaced, not followed.)
    ///
    /// # Errors
    /// [`Error::Io`] says which operation failed; [`Error::TooLarge`] as in [`to_bytes`](Self::to_bytes).
    pub fn save_atomic(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        let bytes = self.to_bytes()?;
        atomic::write(path.as_ref(), |file| std::io::Write::write_all(file, &bytes))
    }

    /// Reads the file `path`, of at most 16 GiB. The checksum is verified before anything is parsed.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::TooLarge`], [`Error::Truncated`], [`Error::Checksum`], [`Error::Damaged`],
    /// [`Error::Foreign`] (not a checkpoint of Lockstep), [`Error::Version`].
    pub fn load(path: impl AsRef<Path>) -> Result<Self, Error> {
        Self::load_with_limit(path, FILE_LIMIT)
    }

    /// [`load`](Self::load) for files of at most `limit` bytes, which is checked before anything is allocated.
    ///
    /// # Errors
    /// Those of [`load`](Self::load).
    pub fn load_with_limit(path: impl AsRef<Path>, limit: u64) -> Result<Self, Error> {
        let path = path.as_ref();
        decode::decode(path, &decode::read(path, limit)?)
    }

    fn find(&self, name: &str) -> Result<&Tensor, Error> {
        let missing = || Error::MissingTensor { path: self.origin.clone(), tensor: name.into() };
        self.tensors.get(name).ok_or_else(missing)
    }

    fn check_dtype<T: Element>(&self, name: &str, tensor: &Tensor) -> Result<(), Error> {
        if tensor.dtype == T::DTYPE {
            return Ok(());
        }
        let (expected, got) = (T::DTYPE.to_string(), tensor.dtype.to_string());
        Err(Error::Dtype { path: self.origin.clone(), tensor: name.into(), expected, got })
    }

    fn wrong_shape(&self, name: &str, expected: &str, got: &[usize]) -> Error {
        Error::Shape { path: self.origin.clone(), tensor: name.into(), expected: expected.into(), got: got.into() }
    }
}
