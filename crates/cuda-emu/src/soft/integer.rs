//! Between integers and floats.

use super::format::{Class, Format, Number, Rounding, shift_and_round};

/// An integer as a float.
pub(crate) fn from_integer(format: Format, rounding: Rounding, value: i128) -> u64 {
    if value == 0 {
        return 0;
    }
    format.round(Number { negative: value < 0, exponent: 0, significand: value.unsigned_abs() }, rounding)
}

/// A float rounded to an integer, as a float of the same format; its sign stays, also that of zero.
pub(crate) fn round_to_integral(format: Format, rounding: Rounding, bits: u64) -> u64 {
    match format.class(bits) {
        Class::Nan => format.nan,
        Class::Finite(Number { negative, exponent, significand }) if exponent < 0 => {
            let significand = shift_and_round(significand, -exponent, negative, rounding);
            format.round(Number { negative, exponent: 0, significand }, Rounding::Nearest)
        }
        _ => bits,
    }
}
