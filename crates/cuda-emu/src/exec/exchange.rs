//! Shuffles, votes, matches and reductions of a warp.

use super::step::lanes;
use crate::alu;
use crate::lanes::{LANES, NARROW, NONE, WIDE, read_lane, write_lane};
use crate::program::{Exchange, ExchangeKind};

/// Does it for the lanes of `mask`, each with its members.
pub(super) fn exchange(file: &mut [u64], exchange: &Exchange, members: &[u32; LANES], mask: u32) {
    let narrow = |file: &[u64], row: u32, lane: usize| read_lane(file, row, NARROW, lane) as u32;
    match exchange.kind {
        ExchangeKind::ShuffleUp
        | ExchangeKind::ShuffleDown
        | ExchangeKind::ShuffleButterfly
        | ExchangeKind::ShuffleIndex => {
            let values: [u32; LANES] = std::array::from_fn(|lane| narrow(file, exchange.a, lane));
            for lane in lanes(mask) {
                let (b, c) = (narrow(file, exchange.b, lane), narrow(file, exchange.c, lane));
                let (source, found) = source(exchange.kind, lane as u32, b, c);
                write_lane(file, exchange.d, NARROW, lane, values[source as usize].into());
                if exchange.p != NONE {
                    write_lane(file, exchange.p, 1, lane, found.into());
                }
            }
        }
        ExchangeKind::VoteAll | ExchangeKind::VoteAny | ExchangeKind::VoteUniform | ExchangeKind::Ballot => {
            let row = file[exchange.a as usize] as u32;
            let votes = if exchange.negated { !row } else { row };
            for lane in lanes(mask) {
                let members = members[lane] & mask;
                let yes = votes & members;
                match exchange.kind {
                    ExchangeKind::Ballot => write_lane(file, exchange.d, NARROW, lane, yes.into()),
                    ExchangeKind::VoteAll => write_lane(file, exchange.d, 1, lane, (yes == members).into()),
                    ExchangeKind::VoteAny => write_lane(file, exchange.d, 1, lane, (yes != 0).into()),
                    _ => write_lane(file, exchange.d, 1, lane, (yes == members || yes == 0).into()),
                }
            }
        }
        ExchangeKind::MatchAny { wide } | ExchangeKind::MatchAll { wide } => {
            let words = if wide { WIDE } else { NARROW };
            let values: [u64; LANES] = std::array::from_fn(|lane| read_lane(file, exchange.a, words, lane));
            for lane in lanes(mask) {
                let members = members[lane] & mask;
                let equal =
                    lanes(members).filter(|&other| values[other] == values[lane]).fold(0, |m, l| m | 1_u32 << l);
                let all = equal == members;
                let d = if matches!(exchange.kind, ExchangeKind::MatchAny { .. }) || all { equal } else { 0 };
                write_lane(file, exchange.d, NARROW, lane, d.into());
                if exchange.p != NONE {
                    write_lane(file, exchange.p, 1, lane, all.into());
                }
            }
        }
        ExchangeKind::Elect => {
            for lane in lanes(mask) {
                let leader = (members[lane] & mask).trailing_zeros();
                write_lane(file, exchange.d, NARROW, lane, leader.into());
                if exchange.p != NONE {
                    write_lane(file, exchange.p, 1, lane, (leader == lane as u32).into());
                }
            }
        }
        kind => {
            let values: [u32; LANES] = std::array::from_fn(|lane| narrow(file, exchange.a, lane));
            for lane in lanes(mask) {
                let magnitude = matches!(kind, ExchangeKind::ReduceFloat { magnitude: true, .. });
                let value = |lane: usize| if magnitude { values[lane] & 0x7fff_ffff } else { values[lane] };
                let mut chosen = lanes(members[lane] & mask).map(value);
                let first = chosen.next().unwrap_or(0);
                let d = chosen.fold(first, |a, b| reduce(kind, a, b));
                write_lane(file, exchange.d, NARROW, lane, d.into());
            }
        }
    }
}

fn reduce(kind: ExchangeKind, a: u32, b: u32) -> u32 {
    match kind {
        ExchangeKind::ReduceAdd => a.wrapping_add(b),
        ExchangeKind::ReduceMin { signed: false } => a.min(b),
        ExchangeKind::ReduceMax { signed: false } => a.max(b),
        ExchangeKind::ReduceMin { signed: true } => (a as i32).min(b as i32) as u32,
        ExchangeKind::ReduceMax { signed: true } => (a as i32).max(b as i32) as u32,
        ExchangeKind::ReduceAnd => a & b,
        ExchangeKind::ReduceOr => a | b,
        ExchangeKind::ReduceFloat { greatest, nan, .. } => {
            let (a, b) = (f32::from_bits(a), f32::from_bits(b));
            let chosen = if nan && (a.is_nan() || b.is_nan()) {
                f32::NAN
            } else if greatest {
                alu::greatest(a, b)
            } else {
                alu::least(a, b)
            };
            alu::canonical(chosen).to_bits()
        }
        _ => a ^ b,
    }
}

/// The lane that a shuffle reads, and whether it is inside the segment. `c` holds the clamp in its low 5 bits and the
/// segment's mask in bits 8 to 12.
fn source(kind: ExchangeKind, lane: u32, b: u32, c: u32) -> (u32, bool) {
    let (offset, clamp, segment) = (b & 31, c & 31, c >> 8 & 31);
    let most = lane & segment | clamp & !segment;
    let least = lane & segment;
    let (source, found) = match kind {
        // For `up` the clamp is a lower bound.
        ExchangeKind::ShuffleUp => {
            let source = lane.wrapping_sub(offset);
            (source, source.cast_signed() >= most.cast_signed())
        }
        ExchangeKind::ShuffleDown => {
            let source = lane + offset;
            (source, source <= most)
        }
        ExchangeKind::ShuffleButterfly => {
            let source = lane ^ offset;
            (source, source <= most)
        }
        _ => {
            let source = least | offset & !segment;
            (source, source <= most)
        }
    };
    if found { (source & 31, true) } else { (lane, false) }
}
