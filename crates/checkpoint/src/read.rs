//! Contents read piece by piece.

use std::fs::File;
use std::io;
use std::path::Path;

use crate::contents::{Contents, Tensor, elements};
use crate::decode::{open, read_at, read_error, verify};
use crate::{BLOCK, Dtype, Element, Error};

/// A verified file, whose elements are read when they are asked for, to where they belong.
///
/// The file is opened once: replacing it, as [`save_atomic`](crate::Writer::save_atomic) does, changes nothing for an open
/// `Reader`. (A program that overwrites the file in place after it was verified is not noticed.)
///
/// ```
/// use checkpoint::{Reader, Writer};
///
/// let mut file = Writer::new();
/// file.put("observation", &[3, 2], &[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("buffer.safetensors");
/// file.save_atomic(&path)?;
///
/// let mut file = Reader::open(&path)?;
/// let mut sums = Vec::new();
/// let mut rows = file.rows::<f32>("observation", &[3, 2])?;
/// while let Some(piece) = rows.next_piece()? {
///     sums.extend(piece.chunks(2).map(|row| row[0] + row[1]));
/// }
/// assert_eq!(sums, [3.0, 7.0, 11.0]);
/// # Ok::<(), checkpoint::Error>(())
/// ```
#[derive(Debug)]
pub struct Reader {
    /// `data` is the position of a tensor's first element in the file, in bytes.
    contents: Contents<u64>,
    file: File,
    /// Bytes on their way.
    block: Vec<u8>,
}

impl Reader {
    /// Opens the file `path`, of any size, and verifies its checksum, for which it reads all of it once. Memory: the
    /// header, of at most 16 MiB, and a block of 256 KiB.
    ///
    /// # Errors
    /// Those of [`Checkpoint::load`](crate::Checkpoint::load), but for the limit of the file's size.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        Self::open_with_limit(path.as_ref(), u64::MAX)
    }

    pub(crate) fn open_with_limit(path: &Path, limit: u64) -> Result<Self, Error> {
        let (mut file, size) = open(path, limit)?;
        let contents = verify(path, &mut file, size)?;
        Ok(Self { contents, file, block: vec![0; BLOCK] })
    }

    /// Contents and file.
    pub(crate) fn into_parts(self) -> (Contents<u64>, File) {
        (self.contents, self.file)
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

    /// The string under `key`.
    ///
    /// # Errors
    /// [`Error::MissingMetadata`].
    pub fn metadata(&self, key: &str) -> Result<&str, Error> {
        self.contents.metadata(key)
    }

    /// The tensor `name`, which must have elements of type `T` and this shape.
    ///
    /// # Errors
    /// [`Error::MissingTensor`], [`Error::Dtype`], [`Error::Shape`], [`Error::Io`].
    pub fn tensor<T: Element>(&mut self, name: &str, shape: &[usize]) -> Result<Vec<T>, Error> {
        let &Tensor { data: at, .. } = self.contents.tensor::<T>(name, shape)?;
        self.collect(at, elements(shape).unwrap_or_default())
    }

    /// The tensor `name` with one dimension of any length, and elements of type `T`.
    ///
    /// # Errors
    /// Those of [`tensor`](Self::tensor).
    pub fn vector<T: Element>(&mut self, name: &str) -> Result<Vec<T>, Error> {
        let &Tensor { data: at, ref shape, .. } = self.contents.vector::<T>(name)?;
        let count = elements(shape).unwrap_or_default();
        self.collect(at, count)
    }

    /// The scalar `name`, which must have type `T` and shape `[]`.
    ///
    /// # Errors
    /// Those of [`tensor`](Self::tensor).
    pub fn scalar<T: Element>(&mut self, name: &str) -> Result<T, Error> {
        let mut value = [T::default()];
        self.read_into(name, &[], &mut value)?;
        Ok(value[0])
    }

    /// Fills `to` with the tensor `name`, which must have elements of type `T` and this shape.
    ///
    /// # Errors
    /// [`Error::MissingTensor`], [`Error::Dtype`], [`Error::Shape`]; [`Error::Elements`] where `to` has another length
    /// than the shape. `to` is unchanged then. After [`Error::Io`] it holds a part of the tensor.
    pub fn read_into<T: Element>(&mut self, name: &str, shape: &[usize], to: &mut [T]) -> Result<(), Error> {
        let &Tensor { data: at, .. } = self.contents.tensor::<T>(name, shape)?;
        if elements(shape) != Some(to.len()) {
            return Err(Error::Elements { tensor: name.into(), shape: shape.into(), got: to.len() });
        }
        self.read(at, to)
    }

    /// The tensor `name`, which must have elements of type `T` and this shape, in pieces of whole rows. A row is all that
    /// one index of the first dimension holds; that of a scalar is the scalar. A piece has as many rows as 256 KiB hold,
    /// at least one; the last one has the rest.
    ///
    /// # Errors
    /// [`Error::MissingTensor`], [`Error::Dtype`], [`Error::Shape`], and [`Error::Io`] where there is no memory for a row.
    pub fn rows<T: Element>(&mut self, name: &str, shape: &[usize]) -> Result<Rows<'_, T>, Error> {
        let &Tensor { data: at, .. } = self.contents.tensor::<T>(name, shape)?;
        let left = elements(shape).unwrap_or_default();
        // At least one element, for tensors that have none.
        let row = shape.get(1..).and_then(elements).unwrap_or(1).max(1);
        let piece = (BLOCK / T::DTYPE.size() / row).max(1) * row;
        let values = zeros(piece.min(left)).map_err(|e| read_error(&self.contents.origin, e))?;
        Ok(Rows { reader: self, at, left, values })
    }

    fn collect<T: Element>(&mut self, at: u64, count: usize) -> Result<Vec<T>, Error> {
        let mut values = zeros(count).map_err(|e| read_error(&self.contents.origin, e))?;
        self.read(at, &mut values)?;
        Ok(values)
    }

    /// Fills `to` with the elements from position `at` on.
    fn read<T: Element>(&mut self, at: u64, to: &mut [T]) -> Result<(), Error> {
        let mut from = at;
        for piece in to.chunks_mut(BLOCK / T::DTYPE.size()) {
            let bytes = &mut self.block[..size_of_val(piece)];
            read_at(&mut self.file, from, bytes).map_err(|e| read_error(&self.contents.origin, e))?;
            T::decode(bytes, piece);
            from += bytes.len() as u64;
        }
        Ok(())
    }
}

/// The pieces of a tensor, made by [`Reader::rows`].
#[derive(Debug)]
pub struct Rows<'r, T> {
    reader: &'r mut Reader,
    /// Position of the next piece in the file, in bytes.
    at: u64,
    /// Elements that were not given yet.
    left: usize,
    values: Vec<T>,
}

impl<T: Element> Rows<'_, T> {
    /// The next piece, in row-major order; `None` after the last.
    ///
    /// # Errors
    /// [`Error::Io`]. The next call tries the same piece again.
    pub fn next_piece(&mut self) -> Result<Option<&[T]>, Error> {
        let length = self.values.len().min(self.left);
        if length == 0 {
            return Ok(None);
        }
        let piece = &mut self.values[..length];
        self.reader.read(self.at, piece)?;
        self.at += size_of_val(piece) as u64;
        self.left -= length;
        Ok(Some(piece))
    }
}

/// `count` zeros. The count is that of a verified file, but memory may be short all the same.
pub(crate) fn zeros<T: Element>(count: usize) -> io::Result<Vec<T>> {
    let mut values = Vec::new();
    values.try_reserve_exact(count).map_err(|e| io::Error::new(io::ErrorKind::OutOfMemory, e))?;
    values.resize(count, T::default());
    Ok(values)
}
