//! 16-bit floats.

use crate::soft::{self, Rounding};

/// IEEE binary16, by its bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ieee(pub(crate) u16);

/// bfloat16, by its bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Brain(pub(crate) u16);

/// What both 16-bit types have.
pub(crate) trait Half: Copy {
    /// The canonical NaN.
    const NAN: Self;
    /// How it is laid out.
    const FORMAT: soft::Format;
    fn bits(self) -> u16;
    fn from_bits(bits: u16) -> Self;
    /// Exact.
    fn to_f32(self) -> f32;
    /// To nearest, ties to even.
    fn from_f32(value: f32) -> Self;

    #[inline(always)]
    fn is_nan(self) -> bool {
        self.to_f32().is_nan()
    }

    /// `a * b + c`, rounded once.
    fn fma(a: Self, b: Self, c: Self) -> Self {
        let bits = soft::fma(Self::FORMAT, Rounding::Nearest, a.bits().into(), b.bits().into(), c.bits().into());
        Self::from_bits(bits as u16)
    }

    /// Subnormals to zero of the same sign.
    #[inline(always)]
    fn flush(self) -> Self {
        let bits = self.bits();
        if bits & Self::FORMAT.exponent_mask() as u16 == 0 { Self::from_bits(bits & 0x8000) } else { self }
    }

    /// Into 0..=1; NaN becomes 0.
    #[inline(always)]
    fn saturate(self) -> Self {
        let value = self.to_f32();
        Self::from_f32(if value > 0.0 { value.min(1.0) } else { 0.0 })
    }
}

impl Half for Ieee {
    const NAN: Self = Self(0x7fff);
    const FORMAT: soft::Format = soft::F16;

    #[inline(always)]
    fn bits(self) -> u16 {
        self.0
    }

    #[inline(always)]
    fn from_bits(bits: u16) -> Self {
        Self(bits)
    }

    #[inline(always)]
    fn to_f32(self) -> f32 {
        let bits = u32::from(self.0);
        let sign = (bits & 0x8000) << 16;
        let magnitude = bits & 0x7fff;
        let value = if magnitude >= 0x7c00 {
            f32::from_bits(0x7f80_0000 | (magnitude & 0x3ff) << 13)
        } else {
            // The exponent's bias by an exact product, which also normalizes subnormals.
            f32::from_bits(magnitude << 13) * f32::from_bits((254 - 15) << 23)
        };
        f32::from_bits(value.to_bits() | sign)
    }

    #[inline(always)]
    fn from_f32(value: f32) -> Self {
        Self(soft::convert(soft::F32, soft::F16, Rounding::Nearest, value.to_bits().into()) as u16)
    }
}

impl Half for Brain {
    const NAN: Self = Self(0x7fff);
    const FORMAT: soft::Format = soft::BF16;

    #[inline(always)]
    fn bits(self) -> u16 {
        self.0
    }

    #[inline(always)]
    fn from_bits(bits: u16) -> Self {
        Self(bits)
    }

    #[inline(always)]
    fn to_f32(self) -> f32 {
        f32::from_bits(u32::from(self.0) << 16)
    }

    #[inline(always)]
    fn from_f32(value: f32) -> Self {
        let bits = value.to_bits();
        if bits & 0x7fff_ffff > 0x7f80_0000 {
            return Self::NAN;
        }
        Self((bits.wrapping_add(0x7fff + (bits >> 16 & 1)) >> 16) as u16)
    }
}
