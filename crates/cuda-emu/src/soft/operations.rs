//! Sums, products, quotients and square roots.

use super::format::{Class, Format, Number, Rounding};

/// `a + b`.
pub(crate) fn add(format: Format, rounding: Rounding, a: u64, b: u64) -> u64 {
    sum(format, rounding, format.class(a), format.class(b))
}

/// `a * b`.
pub(crate) fn mul(format: Format, rounding: Rounding, a: u64, b: u64) -> u64 {
    match product(format.class(a), format.class(b)) {
        Class::Nan => format.nan,
        Class::Infinite { negative } => format.infinity(negative),
        Class::Zero { negative } => format.sign(negative),
        Class::Finite(number) => format.round(number, rounding),
    }
}

/// `a * b + c`, rounded once.
pub(crate) fn fma(format: Format, rounding: Rounding, a: u64, b: u64, c: u64) -> u64 {
    sum(format, rounding, product(format.class(a), format.class(b)), format.class(c))
}

/// `a / b`.
pub(crate) fn div(format: Format, rounding: Rounding, a: u64, b: u64) -> u64 {
    match (format.class(a), format.class(b)) {
        (Class::Nan, _) | (_, Class::Nan) => format.nan,
        (Class::Infinite { .. }, Class::Infinite { .. }) | (Class::Zero { .. }, Class::Zero { .. }) => format.nan,
        (Class::Infinite { negative: n }, y) => format.infinity(n != is_negative(y)),
        (x, Class::Infinite { negative: n }) => format.sign(n != is_negative(x)),
        (Class::Zero { negative: n }, y) => format.sign(n != is_negative(y)),
        (x, Class::Zero { negative: n }) => format.infinity(n != is_negative(x)),
        (Class::Finite(x), Class::Finite(y)) => {
            // With the dividend's highest bit at 126, the quotient has 73 bits at least.
            let x = normalized(x, 126);
            let quotient = x.significand / y.significand;
            let rest = !x.significand.is_multiple_of(y.significand);
            let number = Number {
                negative: x.negative != y.negative,
                exponent: x.exponent - y.exponent - 1,
                significand: quotient << 1 | u128::from(rest),
            };
            format.round(number, rounding)
        }
    }
}

/// The square root; NaN below zero, and -0 for -0.
pub(crate) fn sqrt(format: Format, rounding: Rounding, a: u64) -> u64 {
    match format.class(a) {
        Class::Nan | Class::Infinite { negative: true } => format.nan,
        Class::Infinite { .. } | Class::Zero { .. } => a,
        Class::Finite(Number { negative: true, .. }) => format.nan,
        Class::Finite(number) => {
            let mut number = normalized(number, 126);
            if number.exponent & 1 != 0 {
                number.significand >>= 1;
                number.exponent += 1;
            }
            // 63 bits, and one for what is left.
            let root = number.significand.isqrt();
            let rest = root * root != number.significand;
            let significand = root << 1 | u128::from(rest);
            format.round(Number { negative: false, exponent: number.exponent / 2 - 1, significand }, rounding)
        }
    }
}

/// From one format to another.
pub(crate) fn convert(from: Format, to: Format, rounding: Rounding, a: u64) -> u64 {
    match from.class(a) {
        Class::Nan => to.nan,
        Class::Infinite { negative } => to.infinity(negative),
        Class::Zero { negative } => to.sign(negative),
        Class::Finite(number) => to.round(number, rounding),
    }
}

fn is_negative(class: Class) -> bool {
    match class {
        Class::Nan => false,
        Class::Infinite { negative } | Class::Zero { negative } => negative,
        Class::Finite(number) => number.negative,
    }
}

/// The same number with its highest bit at `top`.
fn normalized(number: Number, top: i32) -> Number {
    let shift = number.significand.leading_zeros() as i32 - (127 - top);
    let significand = if shift >= 0 { number.significand << shift } else { number.significand >> -shift };
    Number { exponent: number.exponent - shift, significand, ..number }
}

/// Exact: significands of factors have 53 bits at most.
fn product(a: Class, b: Class) -> Class {
    match (a, b) {
        (Class::Nan, _) | (_, Class::Nan) => Class::Nan,
        (Class::Infinite { .. }, Class::Zero { .. }) | (Class::Zero { .. }, Class::Infinite { .. }) => Class::Nan,
        (Class::Finite(x), Class::Finite(y)) => Class::Finite(Number {
            negative: x.negative != y.negative,
            exponent: x.exponent + y.exponent,
            significand: x.significand * y.significand,
        }),
        (x, y) => {
            let negative = is_negative(x) != is_negative(y);
            if matches!(x, Class::Infinite { .. }) || matches!(y, Class::Infinite { .. }) {
                Class::Infinite { negative }
            } else {
                Class::Zero { negative }
            }
        }
    }
}

fn sum(format: Format, rounding: Rounding, a: Class, b: Class) -> u64 {
    match (a, b) {
        (Class::Nan, _) | (_, Class::Nan) => format.nan,
        (Class::Infinite { negative: x }, Class::Infinite { negative: y }) if x != y => format.nan,
        (Class::Infinite { negative }, _) | (_, Class::Infinite { negative }) => format.infinity(negative),
        (Class::Zero { negative: x }, Class::Zero { negative: y }) => {
            if x == y {
                format.sign(x)
            } else {
                format.cancelled(rounding)
            }
        }
        (Class::Zero { .. }, Class::Finite(number)) | (Class::Finite(number), Class::Zero { .. }) => {
            format.round(number, rounding)
        }
        (Class::Finite(x), Class::Finite(y)) => finite_sum(format, rounding, x, y),
    }
}

/// Both are brought to the highest bit 125, the smaller one is shifted to the exponent of the larger one. Products
/// have 106 bits, so that 20 are free: a shift by one or none, the only ones after which many bits can cancel, is
/// exact, and after larger ones the sticky bit stays far below the bits that are kept.
fn finite_sum(format: Format, rounding: Rounding, x: Number, y: Number) -> u64 {
    let (x, y) = (normalized(x, 125), normalized(y, 125));
    let (x, y) = if (x.exponent, x.significand) >= (y.exponent, y.significand) { (x, y) } else { (y, x) };
    let shift = (x.exponent - y.exponent) as u32;
    let small = if shift > 126 {
        1
    } else {
        let rest = y.significand & ((1 << shift) - 1) != 0;
        y.significand >> shift | u128::from(rest)
    };
    let significand = if x.negative == y.negative { x.significand + small } else { x.significand - small };
    if significand == 0 {
        return format.cancelled(rounding);
    }
    format.round(Number { significand, ..x }, rounding)
}
