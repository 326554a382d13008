//! Contents that live elsewhere, written piece by piece.

use std::fmt;
use std::io::{self, BufWriter, Cursor, Seek, SeekFrom, Write};
use std::marker::PhantomData;
use std::path::Path;

use crate::checksum::{self, Hashing};
use crate::contents::{Contents, Tensor, elements};
use crate::header::{Plan, plan};
use crate::{BLOCK, Checkpoint, Element, Error, FILE_SIZE, atomic};

/// Why a source has no elements to give: any error, of [`Sink::put`] among them.
pub type SourceError = Box<dyn std::error::Error + Send + Sync>;

/// A file about to be written, whose elements stay where they are until then. Equal contents give the bytes of
/// [`Checkpoint::to_bytes`], in whatever order and in whatever pieces they come.
///
/// Takes memory for the header and one block of 256 KiB, however large the tensors are.
///
/// ```
/// use checkpoint::{Reader, Writer};
///
/// // Rows of 3, of which the file gets the first two elements.
/// let store = [1.0_f32, 2.0, -1.0, 3.0, 4.0, -1.0];
/// let actions = [7_i32, 8];
///
/// let mut file = Writer::new();
/// file.put("action", &[2], &actions)?;
/// file.put_with::<f32>("observation", &[2, 2], |sink| {
///     for row in store.chunks(3) {
///         sink.put(&row[..2])?;
///     }
///     Ok(())
/// })?;
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("buffer.safetensors");
/// file.save_atomic(&path)?;
///
/// let mut file = Reader::open(&path)?;
/// let mut rows = [0.0_f32; 4];
/// file.read_into("observation", &[2, 2], &mut rows)?;
/// assert_eq!(rows, [1.0, 2.0, 3.0, 4.0]);
/// # Ok::<(), checkpoint::Error>(())
/// ```
#[derive(Debug)]
pub struct Writer<'a> {
    contents: Contents<Source<'a>>,
}

/// Writes all elements of one tensor.
struct Source<'a>(Box<Deliver<'a>>);

type Deliver<'a> = dyn FnOnce(Target<'_>) -> Result<(), Error> + 'a;

impl fmt::Debug for Source<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Source")
    }
}

/// Where the elements of one tensor go.
struct Target<'s> {
    out: &'s mut dyn Write,
    path: &'s Path,
    tensor: &'s str,
    shape: &'s [usize],
}

impl Target<'_> {
    fn write_all(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.out.write_all(bytes).map_err(|source| write_error(self.path, source))
    }
}

impl Default for Writer<'_> {
    fn default() -> Self {
        Self::new()
    }
}

impl<'a> Writer<'a> {
    /// An empty one.
    pub fn new() -> Self {
        Self { contents: Contents::new("".into()) }
    }

    /// The contents of `checkpoint`.
    pub(crate) fn of(checkpoint: &'a Checkpoint) -> Self {
        let source = |bytes: &'a [u8]| Source(Box::new(move |mut target| target.write_all(bytes)));
        let tensors = checkpoint.contents.tensors.iter().map(|(name, tensor)| {
            let Tensor { dtype, shape, data } = tensor;
            (name.clone(), Tensor { dtype: *dtype, shape: shape.clone(), data: source(data) })
        });
        let metadata = checkpoint.contents.metadata.clone();
        Self { contents: Contents { tensors: tensors.collect(), metadata, origin: "".into() } }
    }

    /// Adds the tensor `name` of `shape`, with `data` in row-major order. A scalar has shape `[]`.
    ///
    /// # Errors
    /// [`Error::Name`] where the name is empty, taken or reserved, [`Error::Elements`] where `data` doesn't fit the
    /// shape. Nothing is added then.
    pub fn put<T: Element>(&mut self, name: &str, shape: &[usize], data: &'a [T]) -> Result<(), Error> {
        self.contents.check_name(name)?;
        if elements(shape) != Some(data.len()) {
            return Err(Error::Elements { tensor: name.into(), shape: shape.into(), got: data.len() });
        }
        self.put_with::<T>(name, shape, |sink| Ok(sink.put(data)?))
    }

    /// Adds the tensor `name` of `shape`, whose elements `source` delivers in row-major order when the file is written:
    /// in pieces of any length, together as many as the shape holds. Tensors are asked in the order of the file, each
    /// once.
    ///
    /// # Errors
    /// [`Error::Name`] where the name is empty, taken or reserved, [`Error::Shape`] where the shape holds 2^63 bytes or
    /// more. Nothing is added then.
    pub fn put_with<T: Element>(
        &mut self,
        name: &str,
        shape: &[usize],
        source: impl FnOnce(&mut Sink<'_, T>) -> Result<(), SourceError> + 'a,
    ) -> Result<(), Error> {
        self.contents.check_name(name)?;
        let bytes = elements(shape).and_then(|n| n.checked_mul(T::DTYPE.size()));
        if bytes.is_none_or(|n| u64::try_from(n).is_ok_and(|n| n > FILE_SIZE)) {
            let expected = "fewer than 2^63 bytes".into();
            return Err(Error::Shape { path: "".into(), tensor: name.into(), expected, got: shape.into() });
        }
        let source = Source(Box::new(move |target| {
            let mut sink = Sink::new(target);
            let delivered = source(&mut sink);
            sink.finish(delivered)
        }));
        self.contents.tensors.insert(name.into(), Tensor { dtype: T::DTYPE, shape: shape.into(), data: source });
        Ok(())
    }

    /// Adds the string `value` under `key`.
    ///
    /// # Errors
    /// [`Error::Name`] where the key is taken or reserved (`sha256`, `format`, `format_version`).
    pub fn put_metadata(&mut self, key: &str, value: &str) -> Result<(), Error> {
        self.contents.put_metadata(key, value)
    }

    /// Writes the file `path` as a whole or not at all, as [`Checkpoint::save_atomic`] does. On any error, and where a
    /// source panics, an older file of this name is as it was.
    ///
    /// # Errors
    /// [`Error::Elements`] where a source delivers another number of elements than its shape holds, [`Error::Source`]
    /// where it fails by itself, [`Error::Io`] with the operation that failed, [`Error::TooLarge`] as in
    /// [`to_bytes`](Self::to_bytes).
    pub fn save_atomic(self, path: impl AsRef<Path>) -> Result<(), Error> {
        let path = path.as_ref();
        let plan = plan(&self.contents)?;
        atomic::write(path, |file| self.write(&plan, path, file).map(drop))
    }

    /// The file's bytes.
    ///
    /// # Errors
    /// [`Error::Elements`], [`Error::Source`] as in [`save_atomic`](Self::save_atomic), [`Error::TooLarge`] where the
    /// header (names, shapes, strings) takes more than 16 MiB or the data 2^63 bytes or more, [`Error::Io`] where there
    /// is no memory for them.
    pub fn to_bytes(self) -> Result<Vec<u8>, Error> {
        let plan = plan(&self.contents)?;
        let no_memory = |e| write_error(Path::new(""), io::Error::new(io::ErrorKind::OutOfMemory, e));
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(usize::try_from(plan.size).unwrap_or(usize::MAX)).map_err(no_memory)?;
        self.write(&plan, Path::new(""), Cursor::new(bytes)).map(Cursor::into_inner)
    }

    /// The one encoder.
    fn write<W: Write + Seek>(mut self, plan: &Plan, path: &Path, to: W) -> Result<W, Error> {
        let mut out = BufWriter::with_capacity(BLOCK, Hashing::new(to));
        out.write_all(&plan.start).map_err(|source| write_error(path, source))?;
        for name in &plan.order {
            let Some(Tensor { shape, data: Source(source), .. }) = self.contents.tensors.remove(name) else { continue };
            source(Target { out: &mut out, path, tensor: name, shape: &shape })?;
        }
        let hashing = out.into_inner().map_err(|e| write_error(path, e.into_error()))?;
        let (mut to, sum) = hashing.finish();
        let at = SeekFrom::Start(checksum::AT as u64);
        to.seek(at).and_then(|_| to.write_all(sum.as_bytes())).map_err(|source| write_error(path, source))?;
        Ok(to)
    }
}

/// Takes the elements of one tensor, in row-major order.
pub struct Sink<'s, T> {
    target: Target<'s>,
    /// Elements that the shape holds, and those offered so far.
    expected: usize,
    offered: usize,
    /// Whether a write failed: what reached the file is unknown then.
    failed: bool,
    /// Elements as bytes.
    scratch: [u8; SCRATCH],
    elements: PhantomData<T>,
}

/// Bytes that are converted at a time.
const SCRATCH: usize = 4096;

impl<'s, T: Element> Sink<'s, T> {
    fn new(target: Target<'s>) -> Self {
        let expected = elements(target.shape).unwrap_or(usize::MAX);
        Self { target, expected, offered: 0, failed: false, scratch: [0; SCRATCH], elements: PhantomData }
    }

    /// Adds the next elements.
    ///
    /// # Errors
    /// [`Error::Elements`] where they are more than the shape holds, [`Error::Io`] where they can't be written. The file
    /// is given up then, whatever the source says.
    pub fn put(&mut self, values: &[T]) -> Result<(), Error> {
        self.offered = self.offered.saturating_add(values.len());
        if self.offered > self.expected {
            return Err(self.wrong_number());
        }
        for values in values.chunks(SCRATCH / T::DTYPE.size()) {
            let bytes = &mut self.scratch[..size_of_val(values)];
            T::encode(values, bytes);
            if let Err(error) = self.target.out.write_all(bytes) {
                self.failed = true;
                return Err(write_error(self.target.path, error));
            }
        }
        Ok(())
    }

    /// The shape holds so many elements more.
    pub fn remaining(&self) -> usize {
        self.expected.saturating_sub(self.offered)
    }

    fn finish(self, delivered: Result<(), SourceError>) -> Result<(), Error> {
        delivered.map_err(|source| match source.downcast::<Error>() {
            Ok(own) => *own,
            Err(source) => Error::Source { path: self.target.path.into(), tensor: self.target.tensor.into(), source },
        })?;
        if self.failed {
            return Err(write_error(self.target.path, io::Error::other("an earlier piece could not be written")));
        }
        if self.offered != self.expected {
            return Err(self.wrong_number());
        }
        Ok(())
    }

    fn wrong_number(&self) -> Error {
        Error::Elements { tensor: self.target.tensor.into(), shape: self.target.shape.into(), got: self.offered }
    }
}

fn write_error(path: &Path, source: io::Error) -> Error {
    Error::Io { path: path.into(), operation: "write", source }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A destination that fails once, after `room` bytes, as a full disk does until someone makes room.
    struct Full {
        bytes: Cursor<Vec<u8>>,
        room: Option<usize>,
    }

    impl Write for Full {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            match self.room.as_mut() {
                Some(0) => {
                    self.room = None;
                    Err(io::ErrorKind::StorageFull.into())
                }
                Some(room) => {
                    let accepted = self.bytes.write(&bytes[..bytes.len().min(*room)])?;
                    *room -= accepted;
                    Ok(accepted)
                }
                None => self.bytes.write(bytes),
            }
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Seek for Full {
        fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
            self.bytes.seek(to)
        }
    }

    const COUNT: usize = 200_000;

    /// A file of 800 000 bytes and a header, whose source does as `hide` says with errors of the sink.
    fn save(room: usize, hide: bool) -> Result<Vec<u8>, Error> {
        let mut file = Writer::new();
        file.put_with::<u32>("n", &[COUNT], move |sink| {
            for piece in (0..COUNT as u32).collect::<Vec<_>>().chunks(777) {
                let put = sink.put(piece);
                if !hide {
                    put?;
                }
            }
            Ok(())
        })?;
        let plan = plan(&file.contents)?;
        let full = Full { bytes: Cursor::new(Vec::new()), room: Some(room) };
        file.write(&plan, Path::new("here"), full).map(|full| full.bytes.into_inner())
    }

    #[test]
    fn a_write_that_fails_is_an_error_even_where_the_source_hides_it() {
        let whole = save(usize::MAX, false).unwrap();
        assert!(whole.len() > COUNT * 4);
        assert!(Checkpoint::from_bytes(&whole).is_ok());
        // At the beginning, between blocks, at the end, and at the checksum's digits.
        for room in [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK + 5, whole.len() - 1, whole.len(), whole.len() + 63] {
            for hide in [false, true] {
                match save(room, hide) {
                    Err(Error::Io { path, operation: "write", source }) => {
                        assert_eq!(path, Path::new("here"));
                        let kind = if hide { io::ErrorKind::Other } else { io::ErrorKind::StorageFull };
                        assert!([kind, io::ErrorKind::StorageFull].contains(&source.kind()), "{source:?}");
                    }
                    other => panic!("{room}, {hide}: {:?}", other.map(|bytes| bytes.len())),
                }
            }
        }
        assert_eq!(save(whole.len() + 64, false).unwrap(), whole);
    }
}
