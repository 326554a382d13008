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
pub(super) struct Same(pub(super) u64);

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

/// A scheme whose draws ascend.
pub(super) trait Law {
    /// The number of draws that belong to the items up to and with one of weight `weight`. It is asked for every item in
    /// turn.
    fn below(&mut self, weight: u64) -> u64;
}

/// Strata of all the mass.
pub(super) struct Whole<O> {
    divider: Divider,
    offsets: O,
    sum: u64,
}

impl<O> Whole<O> {
    pub(super) fn new(divider: Divider, offsets: O) -> Self {
        Self { divider, offsets, sum: 0 }
    }
}

impl<O: Offsets> Law for Whole<O> {
    #[inline(always)]
    fn below(&mut self, weight: u64) -> u64 {
        self.sum += weight;
        let (stratum, rest) = self.divider.split(self.sum);
        stratum + u64::from(self.offsets.at(stratum) < rest)
    }
}

/// Whole offspring at once, and strata of what remains: `m * weight = n * total + r`, where n are certain and the rests r
/// of all items make up a whole number of strata, each exactly `total` wide.
pub(super) struct Remainders<O> {
    divider: Divider,
    offsets: O,
    position: Position,
    certain: u64,
}

impl<O> Remainders<O> {
    pub(super) fn new(divider: Divider, offsets: O) -> Self {
        Self { divider, offsets, position: Position { stratum: 0, rest: 0 }, certain: 0 }
    }
}

impl<O: Offsets> Law for Remainders<O> {
    #[inline(always)]
    fn below(&mut self, weight: u64) -> u64 {
        let (certain, rest) = self.divider.split(weight);
        self.certain += certain;
        self.position.add(rest, self.divider.total());
        let Position { stratum, rest } = self.position;
        self.certain + stratum + u64::from(self.offsets.at(stratum) < rest)
    }
}

/// A sum of rests: `stratum * total + rest`, `rest < total`.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
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
