//! Outputs that several tiles write at once, each its own columns.

use core::marker::PhantomData;

/// A mutable slice that tiles share. A tile asks for the ranges it alone writes.
#[derive(Clone, Copy)]
pub(crate) struct Shared<'a, S> {
    data: *mut S,
    len: usize,
    owner: PhantomData<&'a mut [S]>,
}

// SAFETY: it is a `&mut [S]` whose disjoint parts go to different threads, which `S: Send` allows; `range` is unsafe and
// its callers keep the parts disjoint.
unsafe impl<S: Send> Send for Shared<'_, S> {}
// SAFETY: as above; a shared reference gives nothing but `range`.
unsafe impl<S: Send> Sync for Shared<'_, S> {}

impl<'a, S> Shared<'a, S> {
    pub(crate) fn new(slice: &'a mut [S]) -> Self {
        Self { data: slice.as_mut_ptr(), len: slice.len(), owner: PhantomData }
    }

    /// Elements `start..start + len`.
    ///
    /// # Panics
    /// If the range does not lie in the slice.
    ///
    /// # Safety
    /// While the returned slice lives, no other range that overlaps it does, on any thread.
    #[inline(always)]
    #[allow(clippy::mut_from_ref)]
    pub(crate) unsafe fn range(&self, start: usize, len: usize) -> &'a mut [S] {
        assert!(start <= self.len && len <= self.len - start, "a tile reaches past its output");
        // SAFETY: the range lies in the slice (asserted), which is borrowed mutably for 'a, and is not aliased (the
        // caller's condition).
        unsafe { core::slice::from_raw_parts_mut(self.data.add(start), len) }
    }
}

#[cfg(test)]
mod tests {
    use super::Shared;

    #[test]
    fn ranges_are_the_slices_own_elements() {
        let mut v = [0, 1, 2, 3, 4, 5];
        let shared = Shared::new(&mut v);
        // SAFETY: the ranges are disjoint.
        let (a, b, none) = unsafe { (shared.range(0, 2), shared.range(4, 2), shared.range(6, 0)) };
        assert!(none.is_empty());
        a[1] = 10;
        b.copy_from_slice(&[40, 50]);
        assert_eq!(v, [0, 10, 2, 3, 40, 50]);
    }

    #[test]
    fn a_range_past_the_end_panics() {
        for (start, len) in [(0, 7), (6, 1), (7, 0), (usize::MAX, 1), (1, usize::MAX)] {
            let refused = std::panic::catch_unwind(|| {
                let mut v = [0_u8; 6];
                // SAFETY: the only range.
                unsafe { Shared::new(&mut v).range(start, len) }.len()
            });
            assert!(refused.is_err(), "{start} {len}");
        }
    }
}
