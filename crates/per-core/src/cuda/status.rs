//! What kernels tell of their inputs: `kernels-gpu/src/fault.rs`.

use gpu::{Buffer, Error, Stream, ViewMut};

/// What is wrong first: what is out of range comes before what is invalid, wherever both are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Fault {
    /// An index that isn't one, the low half of a number or threshold, or the bits of a new item's priority that is no weight.
    OutOfRange { position: usize, index: u32 },
    /// A float that can't be.
    Invalid { position: usize, value: f32 },
}

impl Fault {
    fn parse(word: u64) -> Option<Self> {
        let position = (i32::MAX as u64 - (word >> 32 & i32::MAX as u64)) as usize;
        // The low half.
        let value = word as u32;
        match (word, word >> 63) {
            (0, _) => None,
            (_, 0) => Some(Self::Invalid { position, value: f32::from_bits(value) }),
            _ => Some(Self::OutOfRange { position, index: value }),
        }
    }
}

/// The word in which an object's kernels tell.
#[derive(Debug)]
pub(super) struct Status(Buffer<u64>);

impl Status {
    pub(super) fn new(stream: &Stream) -> Result<Self, Error> {
        Buffer::zeroed(stream, 1).map(Self)
    }

    pub(super) fn word(&mut self) -> ViewMut<'_, u64> {
        self.0.view_mut()
    }

    /// What was told since the last call. Waits.
    pub(super) fn take(&mut self, stream: &Stream) -> Result<Option<Fault>, Error> {
        let mut word = [0];
        self.0.view().read(stream, &mut word)?;
        let fault = Fault::parse(word[0]);
        if fault.is_some() {
            self.0.view_mut().zero(stream)?;
        }
        Ok(fault)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_the_kernels() {
        let word =
            |position: u64, kind: u64, value: u32| kind << 63 | (i32::MAX as u64 - position) << 32 | u64::from(value);
        assert_eq!(Fault::parse(0), None);
        for position in [0, 5, i32::MAX as u64 - 1] {
            let index = Fault::OutOfRange { position: position as usize, index: 7 };
            assert_eq!(Fault::parse(word(position, 1, 7)), Some(index));
            let value = Fault::Invalid { position: position as usize, value: -1.5 };
            assert_eq!(Fault::parse(word(position, 0, (-1.5_f32).to_bits())), Some(value));
        }
        // The first position is the largest word, after what is out of range.
        assert!(word(3, 0, 0) > word(4, 0, u32::MAX));
        assert!(word(4, 1, 0) > word(3, 0, u32::MAX));
    }
}
