//! From an item's number to its slot, and back. Part of the GPU's kernels too.

/// Where in the ring the items are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    pub(crate) capacity: usize,
    /// The next item's number.
    pub(crate) next: u64,
    /// The next item's slot: `next % capacity`.
    pub(crate) cursor: usize,
}

impl Window {
    pub(crate) fn new(capacity: usize, next: u64) -> Self {
        // Below the capacity, of which there is one.
        Self { capacity, next, cursor: next.checked_rem(capacity as u64).unwrap_or(0) as usize }
    }

    /// The slot of item `number`, if the ring still has room for it.
    #[inline(always)]
    pub(crate) fn slot(&self, number: u64) -> Option<usize> {
        // Without the division: from the cursor backwards.
        let age = self.next.checked_sub(number)?;
        if age == 0 || age > self.capacity as u64 {
            return None;
        }
        let age = age as usize;
        Some(if age <= self.cursor { self.cursor - age } else { self.cursor + self.capacity - age })
    }

    /// The number of the item that was written into `slot` last, if one was.
    #[inline(always)]
    pub(crate) fn number(&self, slot: usize) -> u64 {
        let age = if slot < self.cursor { self.cursor - slot } else { self.cursor + self.capacity - slot };
        self.next.wrapping_sub(age as u64)
    }

    /// Goes on by `items`.
    pub(crate) fn advance(&mut self, items: usize) {
        *self = Self::new(self.capacity, self.next + items as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_and_numbers_are_those_of_the_division() {
        for capacity in [1_usize, 2, 3, 7, 4096] {
            for next in [0_u64, 1, 2, 3, 5, 6, 7, 8, 4095, 4096, 4097, (1 << 32) - 1, 1 << 32, (1 << 32) + 5, 1 << 62] {
                let window = Window::new(capacity, next);
                for back in 0..=capacity as u64 + 2 {
                    let Some(number) = next.checked_sub(back) else { continue };
                    let slot = (number % capacity as u64) as usize;
                    let inside = back >= 1 && back <= capacity as u64;
                    assert_eq!(window.slot(number), inside.then_some(slot), "{capacity} {next} {number}");
                    if inside {
                        assert_eq!(window.number(slot), number);
                    }
                }
                assert_eq!((window.slot(next), window.slot(next + 1), window.slot(u64::MAX)), (None, None, None));
            }
        }
    }
}
