//! Memory that is used again by the next call.

use gpu::{Buffer, Device, Error, Pod, Stream, View};

/// `n` elements, all `value`. The host needs memory for some of them only.
pub(super) fn filled<T: Pod>(stream: &Stream, n: usize, value: T) -> Result<Buffer<T>, Error> {
    const AT_ONCE: usize = 1 << 16;
    let mut buffer = Buffer::uninit(stream.device(), n)?;
    let part = vec![value; n.min(AT_ONCE)];
    for first in (0..n).step_by(AT_ONCE) {
        let m = AT_ONCE.min(n - first);
        buffer.view_mut().slice(first..first + m)?.write(stream, &part[..m])?;
    }
    Ok(buffer)
}

/// Device memory for slices of the host, or for what one launch leaves to the next. It grows with the largest one.
#[derive(Debug)]
pub(super) struct Staging<T>(Option<Buffer<T>>);

impl<T> Default for Staging<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T: Pod> Staging<T> {
    /// A copy of `elements`. Waits for the work of the stream.
    pub(super) fn upload(&mut self, stream: &Stream, elements: &[T]) -> Result<View<'_, T>, Error> {
        let n = elements.len();
        let buffer = self.room(stream.device(), n)?;
        buffer.view_mut().slice(0..n)?.write(stream, elements)?;
        buffer.view().slice(0..n)
    }

    /// `n` elements or more.
    pub(super) fn room(&mut self, device: &Device, n: usize) -> Result<&mut Buffer<T>, Error> {
        let buffer = match self.0.take().filter(|buffer| buffer.len() >= n) {
            Some(buffer) => buffer,
            None => Buffer::uninit(device, n.next_power_of_two())?,
        };
        Ok(self.0.insert(buffer))
    }
}
