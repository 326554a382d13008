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
//! | Type | What it does |
//! |---|---|
//! | [`Checkpoint`] | contents in memory |
//! | [`Writer`] | contents that live elsewhere, written from there: memory is bounded, whatever the size |
//! | [`Reader`] | a verified file, read piece by piece to where the elements belong |
//! | [`Element`], [`Dtype`] | types of elements |
//! | [`Error`] | what can be wrong; nothing has changed then |
//!
//! The layout is that of safetensors (8-byte little-endian length of the header, JSON header, data), so other programs
//! can read the tensors. A file that another program has written is refused: its checksum is missing or wrong.

mod atomic;
mod checksum;
mod contents;
mod decode;
mod element;
mod error;
mod header;
mod memory;
mod read;
mod write;

pub use element::{Dtype, Element};
pub use error::Error;
pub use memory::Checkpoint;
pub use read::{Reader, Rows};
pub use write::{Sink, SourceError, Writer};

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
/// Most bytes of data in a file: the largest size that file systems know.
const FILE_SIZE: u64 = i64::MAX as u64;
/// Bytes that are hashed, written or read at a time: they stay in the second-level cache.
const BLOCK: usize = 1 << 18;
