//! The text of `printf`.

use std::fmt::Write as _;

use super::env::Env;
use super::warp::Warp;

impl Warp {
    /// The formatted text, and the number of arguments it took. Arguments lie one behind the other, each aligned to
    /// its size: 4 bytes for integers up to 32 bits, else 8.
    pub(super) fn format(&self, env: &Env<'_>, format: u64, list: u64, lane: usize) -> (String, u32) {
        let format = self.text(env, format, lane);
        let mut at = list;
        let mut taken = 0;
        let mut next = |bytes: u64| {
            // Any address may be given; past the last one comes the first.
            at = at.wrapping_add(bytes - 1) & !(bytes - 1);
            let mut value = 0;
            for i in 0..bytes {
                value |= u64::from(self.byte(env, at.wrapping_add(i), lane).unwrap_or(0)) << (8 * i);
            }
            at = at.wrapping_add(bytes);
            taken += 1;
            value
        };
        let mut text = String::new();
        let mut rest = format.chars().peekable();
        while let Some(c) = rest.next() {
            if c != '%' {
                text.push(c);
                continue;
            }
            let mut spec = Spec::default();
            while let Some(&flag) = rest.peek().filter(|c| "-+ #0".contains(**c)) {
                match flag {
                    '-' => spec.left = true,
                    '+' => spec.plus = true,
                    '0' => spec.zeros = true,
                    '#' => spec.alternate = true,
                    _ => {}
                }
                rest.next();
            }
            let mut number = |rest: &mut std::iter::Peekable<std::str::Chars<'_>>| {
                if rest.next_if_eq(&'*').is_some() {
                    return next(4) as u32 as usize;
                }
                let mut value = 0_usize;
                while let Some(digit) = rest.peek().and_then(|c| c.to_digit(10)) {
                    value = value.saturating_mul(10).saturating_add(digit as usize);
                    rest.next();
                }
                value
            };
            spec.width = number(&mut rest).min(256);
            if rest.next_if_eq(&'.').is_some() {
                spec.precision = Some(number(&mut rest).min(64));
            }
            let mut long = false;
            while let Some(size) = rest.next_if(|c| "hljzt".contains(*c)) {
                long |= size != 'h';
            }
            match rest.next() {
                Some('d' | 'i') => {
                    let value = if long { next(8).cast_signed() } else { i64::from(next(4) as u32 as i32) };
                    let sign = if value < 0 {
                        "-"
                    } else if spec.plus {
                        "+"
                    } else {
                        ""
                    };
                    spec.put(&mut text, sign, &value.unsigned_abs().to_string());
                }
                Some(kind @ ('u' | 'x' | 'X' | 'o')) => {
                    let value = if long { next(8) } else { next(4) };
                    let digits = match kind {
                        'x' => format!("{value:x}"),
                        'X' => format!("{value:X}"),
                        'o' => format!("{value:o}"),
                        _ => value.to_string(),
                    };
                    let prefix = if spec.alternate && matches!(kind, 'x' | 'X') { "0x" } else { "" };
                    spec.put(&mut text, prefix, &digits);
                }
                Some('c') => {
                    let value = next(4) as u8;
                    spec.put(&mut text, "", &char::from(value).to_string());
                }
                Some('p') => {
                    let value = next(8);
                    spec.put(&mut text, "0x", &format!("{value:x}"));
                }
                Some('s') => {
                    let address = next(8);
                    let value = self.text(env, address, lane);
                    spec.put(&mut text, "", &value);
                }
                Some(kind @ ('f' | 'F' | 'e' | 'E' | 'g' | 'G')) => {
                    let value = f64::from_bits(next(8));
                    let sign = if value.is_sign_negative() {
                        "-"
                    } else if spec.plus {
                        "+"
                    } else {
                        ""
                    };
                    spec.put(&mut text, sign, &float(kind, value.abs(), spec.precision.unwrap_or(6)));
                }
                Some(other) => text.push(other),
                None => text.push('%'),
            }
        }
        (text, taken)
    }
}

/// What stands between `%` and the conversion.
#[derive(Default)]
struct Spec {
    left: bool,
    plus: bool,
    zeros: bool,
    alternate: bool,
    width: usize,
    precision: Option<usize>,
}

impl Spec {
    fn put(&self, text: &mut String, prefix: &str, body: &str) {
        let fill = self.width.saturating_sub(prefix.len() + body.chars().count());
        if self.left {
            let _ = write!(text, "{prefix}{body}{}", " ".repeat(fill));
        } else if self.zeros {
            let _ = write!(text, "{prefix}{}{body}", "0".repeat(fill));
        } else {
            let _ = write!(text, "{}{prefix}{body}", " ".repeat(fill));
        }
    }
}

/// C's `%f`, `%e` and `%g`.
fn float(kind: char, value: f64, precision: usize) -> String {
    if !value.is_finite() {
        return if value.is_nan() { "nan" } else { "inf" }.into();
    }
    match kind {
        'f' | 'F' => format!("{value:.precision$}"),
        'e' | 'E' => {
            let text = format!("{value:.precision$e}");
            let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
            let exponent: i32 = exponent.parse().unwrap_or(0);
            let sign = if exponent < 0 { '-' } else { '+' };
            format!("{mantissa}{}{sign}{:02}", kind, exponent.abs())
        }
        _ => {
            let precision = precision.max(1);
            let scientific = format!("{value:.*e}", precision - 1);
            let exponent: i32 = scientific.split_once('e').and_then(|(_, e)| e.parse().ok()).unwrap_or(0);
            if exponent < -4 || exponent >= precision as i32 {
                let text = float(if kind == 'g' { 'e' } else { 'E' }, value, precision - 1);
                let (mantissa, rest) = text.split_at(text.find(['e', 'E']).unwrap_or(text.len()));
                format!("{}{rest}", trimmed(mantissa))
            } else {
                trimmed(&format!("{value:.*}", (precision as i32 - 1 - exponent).max(0) as usize)).into()
            }
        }
    }
}

/// Without zeros at the end of the fraction.
fn trimmed(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}
