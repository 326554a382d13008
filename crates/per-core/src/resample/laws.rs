//! How many draws fall below a sum, for the schemes whose draws ascend.
//!
//! In units of a stratum, `total / m`, the sum b of the weights up to and with an item lies at `b * m / total = k + r / total`
//! ([`Divider`]): all draws of the k strata before are below it, and so is that of stratum k if its offset
//! `floor(u * total)` is below r. That holds to the last unit: `j * total + offset < b * m` is what
//! `floor((j * total + offset) / m) < b` means.

use super::Random;
use super::split::Divider;
use super::tuning::WINDOW;
use crate::cdf::BATCH;
use arith::fixed::bounded;

/// The draws' offsets in their strata, in units of the total.
pub(super) trait Offsets {
    /// The offset in stratum `stratum`; from call to call that doesn't get smaller.
    fn at(&mut self, stratum: u64) -> u64;
}

/// The same one everywhere: systematic.
pub(super) struct Same(u64);

impl Same {
    pub(super) fn new(random: Random<'_>, total: u64) -> Self {
        Self(bounded(random.first(), total))
    }
}

impl Offsets for Same {
    #[inline(always)]
    fn at(&mut self, _: u64) -> u64 {
        self.0
    }
}

/// One of its own in each stratum: stratified. They are made as they are needed, some at a time.
pub(super) struct Window<'a> {
    random: Random<'a>,
    total: u64,
    first: u64,
    offsets: [u64; WINDOW],
}

impl<'a> Window<'a> {
    pub(super) fn new(random: Random<'a>, total: u64) -> Self {
        // No stratum is near this number: the first look moves the window.
        Self { random, total, first: u64::MAX / 2, offsets: [0; WINDOW] }
    }

    /// Makes the window begin at `stratum`.
    #[inline(always)]
    fn move_to(&mut self, stratum: u64) {
        let (batches, _) = self.offsets.as_chunks_mut::<BATCH>();
        for (i, batch) in batches.iter_mut().enumerate() {
            self.random.fill(stratum + (i * BATCH) as u64, batch);
            for offset in batch {
                *offset = bounded(*offset, self.total);
            }
        }
        self.first = stratum;
    }
}

impl Offsets for Window<'_> {
    #[inline(always)]
    fn at(&mut self, stratum: u64) -> u64 {
        if stratum.wrapping_sub(self.first) >= WINDOW as u64 {
            self.move_to(stratum);
        }
        // The remainder changes nothing, and shows that it is below the length.
        self.offsets[stratum.wrapping_sub(self.first) as usize % WINDOW]
    }
}

/// A scheme whose draws ascend: where the items end among its strata. It is small, so that a pass keeps it in registers.
pub(super) trait Law: Default {
    /// Goes on to the end of the next item, whose weight is `weight`.
    fn advance(&mut self, divider: &Divider, weight: u64) -> End;
}

/// Where an item ends.
pub(super) struct End {
    /// Draws that belong to the items up to and with this one without chance.
    pub(super) certain: u64,
    /// Where the item ends among the strata of the others.
    pub(super) position: Position,
}

impl End {
    /// Draws that belong to the items up to and with this one.
    #[inline(always)]
    pub(super) fn draws(self, offsets: &mut impl Offsets) -> u64 {
        let Position { stratum, rest } = self.position;
        self.certain + stratum + u64::from(offsets.at(stratum) < rest)
    }
}

/// Strata of all the mass.
#[derive(Default)]
pub(super) struct Whole {
    sum: u64,
}

impl Law for Whole {
    #[inline(always)]
    fn advance(&mut self, divider: &Divider, weight: u64) -> End {
        self.sum += weight;
        let (stratum, rest) = divider.split(self.sum);
        End { certain: 0, position: Position { stratum, rest } }
    }
}

/// Whole offspring at once, and strata of what remains: `m * weight = n * total + r`, where n are certain and the rests r
/// of all items make up a whole number of strata, each exactly `total` wide.
#[derive(Default)]
pub(super) struct Remainders {
    certain: u64,
    position: Position,
}

impl Law for Remainders {
    #[inline(always)]
    fn advance(&mut self, divider: &Divider, weight: u64) -> End {
        let (certain, rest) = divider.split(weight);
        self.certain += certain;
        self.position.add(rest, divider.total());
        End { certain: self.certain, position: self.position }
    }
}

/// A sum of rests: `stratum * total + rest`, `rest < total`.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub(super) struct Position {
    pub(super) stratum: u64,
    pub(super) rest: u64,
}

impl Position {
    /// Adds a rest that is below the total.
    #[inline(always)]
    pub(super) fn add(&mut self, rest: u64, total: u64) {
        // Both below 2^63.
        let sum = self.rest + rest;
        let more = sum >= total;
        self.rest = sum - if more { total } else { 0 };
        self.stratum += u64::from(more);
    }
}
