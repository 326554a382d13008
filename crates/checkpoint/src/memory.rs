//! Contents in memory.

use std::io::{Cursor, Read, Seek};
use std::path::Path;

use crate::contents::{Contents, Tensor, elements};
use crate::decode::{read_at, read_error, verify};
use crate::read::zeros;
use crate::{Dtype, Element, Error, FILE_LIMIT, Reader, Writer};

/// Named tensors and strings, in memory. Equal checkpoints give equal bytes, in whatever order they were filled.
#[derive(Clone, Debug)]
pub struct Checkpoint {
    pub(crate) contents: Contents<Vec<u8>>,
}

impl Default for Checkpoint {
    fn default() -> Self {
        Self::new()
    }
}

/// Equality of the contents.
impl PartialEq for Checkpoint {
    fn eq(&self, other: &Self) -> bool {
        self.contents.tensors == other.contents.tensors && self.contents.metadata == other.contents.metadata
    }
}

impl Checkpoint {
    /// An empty one.
    pub fn new() -> Self {
        Self { contents: Contents::new("".into()) }
    }

    /// Adds the tensor `name` of `shape`, with `data` in row-major order. A scalar has shape `[]`.
    ///
    /// # Errors
    /// [`Error::Name`] where the name is empty, taken or reserved, [`Error::Elements`] where `data` doesn't fit the
    /// shape. Nothing is added then.
    pub fn put<T: Element>(&mut self, name: &str, shape: &[usize], data: &[T]) -> Result<(), Error> {
        self.contents.check_name(name)?;
        if elements(shape) != Some(data.len()) {
            return Err(Error::Elements { tensor: name.into(), shape: shape.into(), got: data.len() });
        }
        let mut bytes = vec![0; size_of_val(data)];
        T::encode(data, &mut bytes);
        self.contents.tensors.insert(name.into(), Tensor { dtype: T::DTYPE, shape: shape.into(), data: bytes });
        Ok(())
    }

    /// Adds the string `value` under `key`.
    ///
    /// # Errors
    /// [`Error::Name`] where the key is taken or reserved (`sha256`, `format`, `format_version`).
    pub fn put_metadata(&mut self, key: &str, value: &str) -> Result<(), Error> {
        self.contents.put_metadata(key, value)
    }

    /// The names of the tensors, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.contents.names()
    }

    /// Element type and shape of the tensor `name`.
    ///
    /// # Errors
    /// [`Error::MissingTensor`].
    pub fn info(&self, name: &str) -> Result<(Dtype, &[usize]), Error> {
        self.contents.info(name)
    }

    /// The tensor `name`, which must have elements of type `T` and this shape.
    ///
    /// # Errors
    /// [`Error::MissingTensor`], [`Error::Dtype`], [`Error::Shape`].
    pub fn tensor<T: Element>(&self, name: &str, shape: &[usize]) -> Result<Vec<T>, Error> {
        Ok(values(self.contents.tensor::<T>(name, shape)?))
    }

    /// The tensor `name` with one dimension of any length, and elements of type `T`.
    ///
    /// # Errors
    /// [`Error::MissingTensor`], [`Error::Dtype`], [`Error::Shape`].
    pub fn vector<T: Element>(&self, name: &str) -> Result<Vec<T>, Error> {
        Ok(values(self.contents.vector::<T>(name)?))
    }

    /// The scalar `name`, which must have type `T` and shape `[]`.
    ///
    /// # Errors
    /// [`Error::MissingTensor`], [`Error::Dtype`], [`Error::Shape`].
    pub fn scalar<T: Element>(&self, name: &str) -> Result<T, Error> {
        let mut value = [T::default()];
        T::decode(&self.contents.tensor::<T>(name, &[])?.data, &mut value);
        Ok(value[0])
    }

    /// The string under `key`.
    ///
    /// # Errors
    /// [`Error::MissingMetadata`].
    pub fn metadata(&self, key: &str) -> Result<&str, Error> {
        self.contents.metadata(key)
    }

    /// The file's bytes: a function of the contents alone.
    ///
    /// # Errors
    /// [`Error::TooLarge`] where the header (names, shapes, strings) takes more than 16 MiB, [`Error::Io`] where there is
    /// no memory for the bytes.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        Writer::of(self).to_bytes()
    }

    /// Reads what [`to_bytes`](Self::to_bytes) gave.
    ///
    /// # Errors
    /// Those of [`load`](Self::load), with an empty path.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let mut bytes = Cursor::new(bytes);
        let size = bytes.get_ref().len() as u64;
        Self::collect(verify(Path::new(""), &mut bytes, size)?, &mut bytes)
    }

    /// Writes the file `path` as a whole or not at all: to a temporary file in the same folder, which is synchronized to
    /// the disk and renamed, whereupon the folder is synchronized. An older file of this name stays whole until it is
    /// replaced. (A symbolic link of this name is replaced, not followed.)
    ///
    /// # Errors
    /// [`Error::Io`] says which operation failed; [`Error::TooLarge`] as in [`to_bytes`](Self::to_bytes).
    pub fn save_atomic(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        Writer::of(self).save_atomic(path)
    }

    /// Reads the file `path`, of at most 16 GiB. The checksum is verified before anything is parsed.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::TooLarge`], [`Error::Truncated`], [`Error::Checksum`], [`Error::Damaged`],
    /// [`Error::Foreign`] (not a checkpoint of Lockstep), [`Error::Version`], [`Error::Dtype`] where a tensor has elements
    /// that this crate has not.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, Error> {
        Self::load_with_limit(path, FILE_LIMIT)
    }

    /// [`load`](Self::load) for files of at most `limit` bytes, which is checked before anything is allocated.
    ///
    /// # Errors
    /// Those of [`load`](Self::load).
    pub fn load_with_limit(path: impl AsRef<Path>, limit: u64) -> Result<Self, Error> {
        let (contents, mut file) = Reader::open_with_limit(path.as_ref(), limit)?.into_parts();
        Self::collect(contents, &mut file)
    }

    /// The verified contents of `from`.
    fn collect(from: Contents<u64>, file: &mut (impl Read + Seek)) -> Result<Self, Error> {
        let Contents { tensors, metadata, origin } = from;
        let mut contents = Contents { metadata, ..Contents::new(origin) };
        for (name, Tensor { dtype, shape, data: at }) in tensors {
            let size = elements(&shape).unwrap_or_default() * dtype.size();
            let mut data = zeros(size).map_err(|e| read_error(&contents.origin, e))?;
            read_at(file, at, &mut data).map_err(|e| read_error(&contents.origin, e))?;
            contents.tensors.insert(name, Tensor { dtype, shape, data });
        }
        Ok(Self { contents })
    }
}

fn values<T: Element>(tensor: &Tensor<Vec<u8>>) -> Vec<T> {
    let mut values = vec![T::default(); tensor.data.len() / T::DTYPE.size()];
    T::decode(&tensor.data, &mut values);
    values
}
