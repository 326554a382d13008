//! Random numbers of a device.

use gpu::kernels::Position;
use gpu::{Buffer, Error, Stream, ViewMut};

/// A stream of random numbers ([`arith::random::Stream`]), and which of its blocks come next.
///
/// The position lies in the device's memory, and draws move it on: so a graph that is replayed draws anew each time.
#[derive(Debug)]
pub struct Draws {
    pub(super) seed: u64,
    pub(super) number: u64,
    position: Buffer<Position>,
}

impl Draws {
    /// Stream (`seed`, `number`), from block `next` on.
    ///
    /// # Errors
    /// [`Error::Driver`], [`Error::Capturing`].
    pub fn new(stream: &Stream, seed: u64, number: u64, next: u64) -> Result<Self, Error> {
        let position = Buffer::from_slice(stream, &[at(next)])?;
        Ok(Self { seed, number, position })
    }

    /// The next block. Waits.
    ///
    /// # Errors
    /// [`Error::Driver`], [`Error::Capturing`].
    pub fn next(&self, stream: &Stream) -> Result<u64, Error> {
        let mut position = [at(0)];
        self.position.view().read(stream, &mut position)?;
        let [Position { next, .. }] = position;
        Ok(next)
    }

    /// Goes on from block `next`. Waits.
    ///
    /// # Errors
    /// [`Error::Driver`], [`Error::Capturing`].
    pub fn seek(&mut self, stream: &Stream, next: u64) -> Result<(), Error> {
        self.position.view_mut().write(stream, &[at(next)])
    }

    pub(super) fn position(&mut self) -> ViewMut<'_, Position> {
        self.position.view_mut()
    }
}

fn at(next: u64) -> Position {
    Position { next, done: 0, unused: 0 }
}
