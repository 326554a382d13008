//! Names of items that outlive the items.

/// Names one item for ever: its number among all that were inserted since the replay began.
///
/// An item lies in slot `number % capacity`; a slot's next item has another number. So a handle whose item was
/// overwritten or removed is known as such however late it comes, whichever batches are outstanding, and it costs no
/// memory in the replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Handle(pub(super) u64);

impl Handle {
    /// The item's number: how many were inserted before it.
    pub const fn number(self) -> u64 {
        self.0
    }

    /// The handle of item `number`, as read from [`number`](Self::number) (a log, another process).
    pub const fn from_number(number: u64) -> Self {
        Self(number)
    }
}

/// The handles of the items of one insertion, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handles {
    pub(super) numbers: std::ops::Range<u64>,
}

impl Iterator for Handles {
    type Item = Handle;

    fn next(&mut self) -> Option<Handle> {
        self.numbers.next().map(Handle)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        // As many as rows were given.
        let left = (self.numbers.end - self.numbers.start) as usize;
        (left, Some(left))
    }
}

impl ExactSizeIterator for Handles {}
