//! Working memory that the caller keeps.

use arith::sum::CHUNK;
use gpu::kernels::sum::JoinParts;
use gpu::{Buffer, Error, Stream, ViewMut};

/// The results of chunks. It grows when a product or sum needs more, and is then reused; to grow inside a captured graph is
/// allowed, and the graph keeps what it uses.
#[derive(Debug, Default)]
pub struct Scratch {
    parts: Option<Buffer<f32>>,
}

/// A result, before its sums are joined.
pub(super) struct Parts<'a> {
    pub(super) out: ViewMut<'a, f32>,
    pub(super) rows: usize,
    pub(super) cols: usize,
    pub(super) row_stride: usize,
}

impl Scratch {
    /// Empty scratch; allocates nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sums of `terms` terms each: `launch` gets where the chunks' results go, and how far apart their rows are. They go to the
    /// result itself if there is one chunk.
    pub(super) fn join(
        &mut self,
        stream: &Stream,
        terms: usize,
        result: Parts<'_>,
        launch: impl FnOnce(ViewMut<'_, f32>, usize) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let Parts { out, rows, cols, row_stride: stride } = result;
        let count = terms.div_ceil(CHUNK);
        if count <= 1 {
            return launch(out, stride);
        }
        let len = [rows, cols].into_iter().try_fold(count, usize::checked_mul);
        let len = len.ok_or(Error::TooLarge { elements: usize::MAX, bytes: size_of::<f32>() })?;
        let mut parts = self.take(stream, len)?;
        launch(parts.reborrow(), cols)?;
        stream.launch(&JoinParts { parts: parts.view(), out, count, rows, cols, stride })
    }

    /// `len` elements of any value.
    fn take(&mut self, stream: &Stream, len: usize) -> Result<ViewMut<'_, f32>, Error> {
        let fits = |parts: &Buffer<f32>| parts.len() >= len && parts.device() == stream.device();
        let parts = match self.parts.take().filter(fits) {
            Some(parts) => parts,
            None => Buffer::uninit(stream.device(), len)?,
        };
        self.parts.insert(parts).view_mut().slice(0..len)
    }
}
