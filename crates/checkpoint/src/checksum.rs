//! The checksum: SHA-256 of the whole file with zeros in place of its own digits.

use std::fmt::Write as _;
use std::io::{self, Write};

use sha2::{Digest, Sha256};

use crate::{DIGITS, LENGTH, PREFIX};

/// Where its digits are in the file, in bytes.
pub(crate) const AT: usize = LENGTH + PREFIX.len();

/// Hands on to `to` and takes the checksum of what was accepted there.
pub(crate) struct Hashing<W> {
    to: W,
    hash: Sha256,
}

impl<W> Hashing<W> {
    pub(crate) fn new(to: W) -> Self {
        Self { to, hash: Sha256::new() }
    }

    /// The destination, and the checksum in lower-case hexadecimal digits.
    pub(crate) fn finish(self) -> (W, String) {
        let digits = self.hash.finalize().iter().fold(String::with_capacity(DIGITS), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        });
        (self.to, digits)
    }
}

impl<W: Write> Write for Hashing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let accepted = self.to.write(bytes)?;
        self.hash.update(&bytes[..accepted]);
        Ok(accepted)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}
