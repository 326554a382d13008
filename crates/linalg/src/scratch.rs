//! Working memory that the caller keeps.

/// Packing buffers and partial results of the products. They grow when a product needs more, and are then reused.
#[derive(Debug, Default)]
pub struct Scratch {
    data: Vec<f32>,
}

impl Scratch {
    /// Empty scratch; allocates nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// `len` elements that start on a cache line, of any value.
    #[inline]
    pub(crate) fn take(&mut self, len: usize) -> &mut [f32] {
        const LINE: usize = 16;
        if self.data.len() < len + LINE {
            self.data.resize(len + LINE, 0.0);
        }
        let start = self.data.as_ptr().align_offset(64);
        &mut self.data[if start < LINE { start } else { 0 }..][..len]
    }
}
