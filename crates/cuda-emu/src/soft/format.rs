//! Layouts of floating-point numbers, and rounding to them.

/// How a result that lies between two numbers is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Rounding {
    /// `.rn`: to nearest, ties to even.
    Nearest,
    /// `.rna`: to nearest, ties away from zero.
    Away,
    /// `.rz`: towards zero.
    Zero,
    /// `.rm`: towards minus infinity.
    Down,
    /// `.rp`: towards plus infinity.
    Up,
}

/// A binary interchange format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Format {
    /// Bits of the exponent.
    exponent: u32,
    /// Bits of the fraction.
    fraction: u32,
    /// Bits below the fraction, which are zero (`tf32` is kept in 32 bits).
    padding: u32,
    /// What an operation gives for NaN.
    pub(crate) nan: u64,
}

pub(crate) const F16: Format = Format { exponent: 5, fraction: 10, padding: 0, nan: 0x7fff };
pub(crate) const BF16: Format = Format { exponent: 8, fraction: 7, padding: 0, nan: 0x7fff };
pub(crate) const TF32: Format = Format { exponent: 8, fraction: 10, padding: 13, nan: 0x7fff_ffff };
pub(crate) const F32: Format = Format { exponent: 8, fraction: 23, padding: 0, nan: 0x7fff_ffff };
pub(crate) const F64: Format = Format { exponent: 11, fraction: 52, padding: 0, nan: 0xfff8_0000_0000_0000 };

/// A finite number other than zero: `±significand * 2^exponent`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Number {
    pub(crate) negative: bool,
    pub(crate) exponent: i32,
    pub(crate) significand: u128,
}

/// What bits stand for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Class {
    Nan,
    Infinite { negative: bool },
    Zero { negative: bool },
    Finite(Number),
}

impl Format {
    const fn bias(self) -> i32 {
        (1 << (self.exponent - 1)) - 1
    }

    /// The bits of the exponent.
    pub(crate) const fn exponent_mask(self) -> u64 {
        ((1 << self.exponent) - 1) << (self.fraction + self.padding)
    }

    pub(crate) const fn sign(self, negative: bool) -> u64 {
        (negative as u64) << (self.exponent + self.fraction + self.padding)
    }

    pub(crate) const fn infinity(self, negative: bool) -> u64 {
        self.exponent_mask() | self.sign(negative)
    }

    /// Takes bits apart.
    #[inline]
    pub(crate) fn class(self, bits: u64) -> Class {
        let bits = bits >> self.padding;
        let fraction = bits & ((1 << self.fraction) - 1);
        let field = (bits >> self.fraction & ((1 << self.exponent) - 1)) as i32;
        let negative = bits >> (self.fraction + self.exponent) & 1 != 0;
        let lowest = 1 - self.bias() - self.fraction as i32;
        match (field, fraction) {
            (0, 0) => Class::Zero { negative },
            (0, _) => Class::Finite(Number { negative, exponent: lowest, significand: fraction.into() }),
            (field, fraction) if field == (1 << self.exponent) - 1 => {
                if fraction == 0 {
                    Class::Infinite { negative }
                } else {
                    Class::Nan
                }
            }
            (field, fraction) => {
                let significand = u128::from(fraction | 1 << self.fraction);
                Class::Finite(Number { negative, exponent: lowest + field - 1, significand })
            }
        }
    }

    /// The bits of the number, rounded. A significand of zero gives zero.
    #[inline]
    pub(crate) fn round(self, number: Number, rounding: Rounding) -> u64 {
        let Number { negative, exponent, significand } = number;
        let sign = self.sign(negative);
        if significand == 0 {
            return sign;
        }
        let lowest = 1 - self.bias() - self.fraction as i32;
        let top = 127 - significand.leading_zeros() as i32;
        // Exponent of the last bit that is kept.
        let unit = (top + exponent - self.fraction as i32).max(lowest);
        let kept = shift_and_round(significand, unit - exponent, negative, rounding) as u64;
        // The leading bit carries into the exponent; so does rounding up to a power of two.
        let field = (unit - lowest) as u64;
        if field >= 1 << self.exponent {
            return sign | self.overflow(negative, rounding);
        }
        let magnitude = ((field << self.fraction) + kept) << self.padding;
        sign | if magnitude >= self.infinity(false) { self.overflow(negative, rounding) } else { magnitude }
    }

    fn overflow(self, negative: bool, rounding: Rounding) -> u64 {
        let to_infinity = match rounding {
            Rounding::Nearest | Rounding::Away => true,
            Rounding::Zero => false,
            Rounding::Down => negative,
            Rounding::Up => !negative,
        };
        if to_infinity { self.infinity(false) } else { self.infinity(false) - (1 << self.padding) }
    }

    /// Zero of the sign that a sum of opposites has.
    pub(crate) fn cancelled(self, rounding: Rounding) -> u64 {
        self.sign(rounding == Rounding::Down)
    }
}

/// `significand / 2^shift`, rounded to an integer; exact for shifts that aren't positive.
#[inline]
pub(super) fn shift_and_round(significand: u128, shift: i32, negative: bool, rounding: Rounding) -> u128 {
    if shift <= 0 {
        return significand.checked_shl(shift.unsigned_abs()).unwrap_or(0);
    }
    let shift = shift as u32;
    let (kept, half, rest) = if shift > 128 {
        (0, false, significand != 0)
    } else {
        let kept = significand.checked_shr(shift).unwrap_or(0);
        let half = significand >> (shift - 1) & 1 != 0;
        (kept, half, significand & ((1 << (shift - 1)) - 1) != 0)
    };
    let up = match rounding {
        Rounding::Nearest => half && (rest || kept & 1 != 0),
        Rounding::Away => half,
        Rounding::Zero => false,
        Rounding::Down => negative && (half || rest),
        Rounding::Up => !negative && (half || rest),
    };
    kept + u128::from(up)
}
