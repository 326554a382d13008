//! `ldmatrix`, `stmatrix` and `mma.sync`, with fragments laid out as the PTX ISA's figures have them.

use super::env::{Env, Mode, Place};
use super::request::{Request, window};
use super::warp::{Activation, Warp};
use super::watch;
use crate::count::bank_conflicts;
use crate::fault::{Fault, FaultKind};
use crate::lanes::{Brain, Half, Ieee, LANES, NARROW, read_lane, write_lane};
use crate::program::{LoadMatrix, Multiply, MultiplyInput};
use crate::types::Space;

/// Bytes of a row of a matrix.
const ROW: u64 = 16;

impl Warp {
    /// Lane `8 i + r` says where row `r` of matrix `i` is.
    pub(super) fn load_matrix<M: Mode>(
        &mut self,
        env: &mut Env<'_>,
        activation: &mut Activation,
        load: &LoadMatrix,
        place: Place,
    ) -> Result<(), Box<Fault>> {
        let count = load.registers.len();
        let mask = if count == 4 { u32::MAX } else { (1 << (8 * count)) - 1 };
        let mut request = Request::new(&activation.file, &load.address, Space::Shared, ROW, mask, place);
        if load.space == Space::Generic {
            for (lane, address) in request.at.iter_mut().enumerate().take(8 * count) {
                let (space, offset) = window(*address);
                if space != Space::Shared {
                    return Err(env.access_fault(FaultKind::OutOfBounds { bytes: ROW }, place, lane, space, *address));
                }
                *address = offset;
            }
        }
        request.inside(env, env.launch.shared_bytes)?;
        if M::COUNT {
            let requests = if load.store {
                &mut env.counters.shared_store_requests
            } else {
                &mut env.counters.shared_load_requests
            };
            *requests += 1;
            env.counters.shared_bank_conflicts += bank_conflicts(&request.at, ROW, mask);
        }
        if M::CHECK {
            if load.store {
                for lane in 0..8 * count {
                    watch::shared_write(env, &request.lane(lane, false), false)?;
                }
            } else {
                watch::shared_read(env, &request, false)?;
            }
        }
        for (i, &register) in load.registers.iter().enumerate() {
            for lane in 0..LANES {
                let mut pair = if load.store { read_lane(&activation.file, register, NARROW, lane) as u32 } else { 0 };
                for half in 0..2 {
                    let (mut row, mut column) = (lane / 4, lane % 4 * 2 + half);
                    if load.transposed {
                        std::mem::swap(&mut row, &mut column);
                    }
                    let at = request.at[8 * i + row] as usize + 2 * column;
                    if load.store {
                        let value = (pair >> (16 * half)) as u16;
                        env.shared_bytes_mut()[at..at + 2].copy_from_slice(&value.to_le_bytes());
                    } else {
                        let bytes = env.shared_bytes();
                        pair |= u32::from(u16::from_le_bytes([bytes[at], bytes[at + 1]])) << (16 * half);
                    }
                }
                if !load.store {
                    write_lane(&mut activation.file, register, NARROW, lane, pair.into());
                }
            }
        }
        Ok(())
    }
}

/// `d = a b + c` for 16 x k, k x 8 and 16 x 8. The ISA leaves order and precision of the sum open; here it is computed
/// in `f64`, k ascending after `c`, and rounded once.
pub(super) fn multiply(file: &mut [u64], multiply: &Multiply) {
    let k = multiply.k;
    let value = |file: &[u64], row: u32, lane: usize, half: usize| -> f64 {
        let bits = read_lane(file, row, NARROW, lane) as u32;
        let part = (bits >> (16 * half)) as u16;
        match multiply.input {
            MultiplyInput::F16 => Ieee(part).to_f32().into(),
            MultiplyInput::Bf16 => Brain(part).to_f32().into(),
            // The lowest 13 bits don't count.
            MultiplyInput::Tf32 => f32::from_bits(bits & 0xffff_e000).into(),
        }
    };
    let per = if multiply.input == MultiplyInput::Tf32 { 1 } else { 2 };
    // Columns of `a` and rows of `b` in one register of all lanes.
    let stretch = 4 * per;
    let mut a = vec![0.0; 16 * k];
    let mut b = vec![0.0; k * 8];
    for lane in 0..LANES {
        let (group, member) = (lane / 4, lane % 4);
        for (i, &register) in multiply.a.iter().enumerate() {
            for half in 0..per {
                let (row, column) = (group + i % 2 * 8, i / 2 * stretch + member * per + half);
                a[row * k + column] = value(file, register, lane, half);
            }
        }
        for (i, &register) in multiply.b.iter().enumerate() {
            for half in 0..per {
                let row = i * stretch + member * per + half;
                b[row * 8 + group] = value(file, register, lane, half);
            }
        }
    }
    let mut result = [[0.0_f64; 4]; LANES];
    for (lane, sums) in result.iter_mut().enumerate() {
        for (i, sum) in sums.iter_mut().enumerate() {
            let (row, column) = (lane / 4 + i / 2 * 8, lane % 4 * 2 + i % 2);
            *sum = if multiply.half.1 {
                let bits = read_lane(file, multiply.c[i / 2], NARROW, lane) as u32;
                Ieee((bits >> (16 * (i % 2))) as u16).to_f32().into()
            } else {
                f32::from_bits(read_lane(file, multiply.c[i], NARROW, lane) as u32).into()
            };
            for step in 0..k {
                *sum += a[row * k + step] * b[step * 8 + column];
            }
        }
    }
    for (lane, sums) in result.iter().enumerate() {
        if multiply.half.0 {
            for (i, &register) in multiply.d.iter().enumerate() {
                let half = |sum: f64| {
                    let sum = sum as f32;
                    if sum.is_nan() { Ieee::NAN } else { Ieee::from_f32(sum) }
                };
                let pair = u32::from(half(sums[2 * i]).0) | u32::from(half(sums[2 * i + 1]).0) << 16;
                write_lane(file, register, NARROW, lane, pair.into());
            }
        } else {
            for (&register, &sum) in multiply.d.iter().zip(sums) {
                let sum = sum as f32;
                let bits = if sum.is_nan() { 0x7fff_ffff } else { sum.to_bits() };
                write_lane(file, register, NARROW, lane, bits.into());
            }
        }
    }
}
