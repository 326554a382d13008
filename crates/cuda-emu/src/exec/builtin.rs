//! Functions that the device's runtime provides: `vprintf` and `__assertfail`.

use std::fmt::Write as _;

use super::env::{Env, Place};
use super::request::window;
use super::step::lanes;
use super::warp::{Activation, Warp};
use crate::fault::{Fault, FaultKind};
use crate::lanes::{read_lane, write_lane};
use crate::program::{Call, Slot};
use crate::types::Space;

/// Longest text that a kernel may hand over, in bytes.
const TEXT: u64 = 1 << 16;

impl Warp {
    /// Calls a function that the module only declares.
    pub(super) fn builtin(
        &mut self,
        env: &mut Env<'_>,
        caller: &mut Activation,
        function: usize,
        call: &Call,
        mask: u32,
        place: Place,
    ) -> Result<(), Box<Fault>> {
        let launch = env.launch;
        let name = &launch.program.functions[function].name;
        let first = mask.trailing_zeros() as usize;
        match (name.as_str(), call.arguments.len()) {
            ("vprintf", 2) => {
                for lane in lanes(mask) {
                    let format = self.argument(caller, call.arguments[0], lane);
                    let list = self.argument(caller, call.arguments[1], lane);
                    let text = self.format(env, format, list, lane);
                    if let Ok(mut output) = launch.output.lock() {
                        output.push_str(&text.0);
                    }
                    if let Some(&slot) = call.returns.first() {
                        self.give(caller, slot, lane, text.1.into());
                    }
                }
                Ok(())
            }
            ("__assertfail", 5) => {
                let text = |warp: &Self, i: usize| {
                    let address = warp.argument(caller, call.arguments[i], first);
                    warp.text(env, address, first)
                };
                let line = self.argument(caller, call.arguments[2], first) as u32;
                let message = format!("{}:{line}: {}: {}", text(self, 1), text(self, 3), text(self, 0));
                Err(env.fault(FaultKind::Assertion(message), place, first))
            }
            _ => Err(env.fault(FaultKind::Unresolved { name: name.clone() }, place, first)),
        }
    }

    fn argument(&self, caller: &Activation, slot: Slot, lane: usize) -> u64 {
        match slot {
            Slot::Register { row, words } => read_lane(&caller.file, row, words, lane),
            Slot::Frame { offset, bytes } => {
                let at = (lane as u64 * self.local.stride + caller.frame + offset) as usize;
                let length = bytes.min(8) as usize;
                let mut value = [0; 8];
                value[..length].copy_from_slice(&self.local.bytes()[at..at + length]);
                u64::from_le_bytes(value)
            }
        }
    }

    fn give(&mut self, caller: &mut Activation, slot: Slot, lane: usize, value: u64) {
        match slot {
            Slot::Register { row, words } => write_lane(&mut caller.file, row, words, lane, value),
            Slot::Frame { offset, bytes } => {
                let at = (lane as u64 * self.local.stride + caller.frame + offset) as usize;
                let length = bytes.min(8) as usize;
                self.local.bytes_mut()[at..at + length].copy_from_slice(&value.to_le_bytes()[..length]);
            }
        }
    }

    /// One byte of a lane's memory; `None` outside.
    fn byte(&self, env: &Env<'_>, address: u64, lane: usize) -> Option<u8> {
        let (space, offset) = window(address);
        let at = usize::try_from(offset).ok()?;
        match space {
            Space::Shared => env.shared_bytes()[..env.launch.shared_bytes as usize].get(at).copied(),
            Space::Local if offset < self.local.stride => {
                self.local.bytes().get(lane * self.local.stride as usize + at).copied()
            }
            Space::Local => None,
            Space::Param => env.launch.parameters.get(at).copied(),
            _ => {
                let (index, at) = env.launch.memory.locate(address, 1, &mut 0)?;
                let mut byte = [0];
                env.launch.memory.live[index].read(at, &mut byte);
                Some(byte[0])
            }
        }
    }

    /// A text that ends with a zero.
    fn text(&self, env: &Env<'_>, address: u64, lane: usize) -> String {
        let bytes: Vec<u8> =
            (0..TEXT).map_while(|i| self.byte(env, address.wrapping_add(i), lane).filter(|&byte| byte != 0)).collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// The formatted text, and the number of arguments it took. Arguments lie one behind the other, each aligned to
    /// its size: 4 bytes for integers up to 32 bits, else 8.
    fn format(&self, env: &Env<'_>, format: u64, list: u64, lane: usize) -> (String, u32) {
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
