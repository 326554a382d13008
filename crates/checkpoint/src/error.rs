//! What can go wrong with a checkpoint.

use std::io;
use std::path::PathBuf;

/// An error of a checkpoint; `path` is the file, or empty for one in memory.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The system refused an operation.
    #[error("checkpoint {path}: {operation}: {source}", path = path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What was being done.
        operation: &'static str,
        /// The system's reason.
        source: io::Error,
    },
    /// Larger than what is read or written.
    #[error("checkpoint {path}: the {what} has {size} bytes, at most {limit} are accepted", path = path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The part.
        what: &'static str,
        /// Its size, in bytes.
        size: u64,
        /// The limit, in bytes.
        limit: u64,
    },
    /// The file ends too early.
    #[error("checkpoint {path}: the file has {got} bytes, expected {expected}: it was cut off", path = path.display())]
    Truncated {
        /// The file.
        path: PathBuf,
        /// What its beginning promises, in bytes (at least so many).
        expected: u64,
        /// Its size, in bytes.
        got: u64,
    },
    /// The contents are not those that were written.
    #[error("checkpoint {path}: damaged: the contents have SHA-256 {got}, expected {expected}", path = path.display())]
    Checksum {
        /// The file.
        path: PathBuf,
        /// The checksum in the file.
        expected: String,
        /// That of its contents.
        got: String,
    },
    /// The contents make no sense although the checksum is right.
    #[error("checkpoint {path}: damaged: {reason}", path = path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What makes no sense.
        reason: String,
    },
    /// The file was not written by this crate.
    #[error("checkpoint {path}: not a checkpoint of Lockstep: {reason}", path = path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What it is instead.
        reason: &'static str,
    },
    /// The file has a version that this crate can't read.
    #[error("checkpoint {path}: format version {got}, expected {expected}", path = path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// The version that can be read.
        expected: &'static str,
        /// The file's.
        got: String,
    },
    /// There is no such tensor.
    #[error("checkpoint {path}: no tensor {tensor}", path = path.display())]
    MissingTensor {
        /// The file.
        path: PathBuf,
        /// Its name.
        tensor: String,
    },
    /// There is no such string.
    #[error("checkpoint {path}: no metadata {key}", path = path.display())]
    MissingMetadata {
        /// The file.
        path: PathBuf,
        /// Its key.
        key: String,
    },
    /// A tensor has another shape than expected.
    #[error("checkpoint {path}: tensor {tensor} has shape {got:?}, expected {expected}", path = path.display())]
    Shape {
        /// The file.
        path: PathBuf,
        /// The tensor.
        tensor: String,
        /// What it should be.
        expected: String,
        /// What it is.
        got: Vec<usize>,
    },
    /// A tensor has elements of another type than expected.
    #[error("checkpoint {path}: tensor {tensor} has elements of type {got}, expected {expected}", path = path.display())]
    Dtype {
        /// The file.
        path: PathBuf,
        /// The tensor.
        tensor: String,
        /// What it should be.
        expected: String,
        /// What it is.
        got: String,
    },
    /// The source of a tensor's elements failed.
    #[error("checkpoint {path}: tensor {tensor}: {source}", path = path.display())]
    Source {
        /// The file.
        path: PathBuf,
        /// The tensor.
        tensor: String,
        /// The source's reason.
        source: crate::SourceError,
    },
    /// A name can't be used.
    #[error("checkpoint: {name:?} {reason}")]
    Name {
        /// The name of a tensor or the key of a string.
        name: String,
        /// Why it can't be used.
        reason: &'static str,
    },
    /// The number of elements is not that of the shape.
    #[error("checkpoint: tensor {tensor} has {got} elements, expected as many as shape {shape:?} holds")]
    Elements {
        /// The tensor.
        tensor: String,
        /// Its shape.
        shape: Vec<usize>,
        /// The number of elements given.
        got: usize,
    },
}
