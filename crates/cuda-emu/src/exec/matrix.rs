//! `ldmatrix`, `stmatrix` and `movmatrix`.

use super::chain::Use;
use super::env::{Env, Mode, Place};
use super::request::{Request, window};
use super::warp::{Activation, Warp};
use super::watch;
use crate::count::bank_conflicts;
use crate::fault::{Fault, FaultKind};
use crate::lanes::{LANES, NARROW, read_lane, write_lane};
use crate::program::LoadMatrix;
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
        self.chain_access::<M>(env, &request, if load.store { Use::Write } else { Use::Read });
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

/// Transposes an 8x8 matrix: lane `4 r + c` has columns `2 c` and `2 c + 1` of row `r`.
pub(super) fn transpose(file: &mut [u64], d: u32, a: u32) {
    let rows: [u32; LANES] = std::array::from_fn(|lane| read_lane(file, a, NARROW, lane) as u32);
    let element = |row: usize, column: usize| rows[4 * row + column / 2] >> (16 * (column % 2)) & 0xffff;
    for lane in 0..LANES {
        let (row, column) = (lane / 4, lane % 4 * 2);
        let pair = element(column, row) | element(column + 1, row) << 16;
        write_lane(file, d, NARROW, lane, pair.into());
    }
}
