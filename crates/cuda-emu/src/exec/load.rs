//! Loads.

use super::chain::Use;
use super::env::{Env, Mode, Place};
use super::request::{Regions, Request};
use super::step::lanes;
use super::warp::{Activation, Warp};
use super::watch;
use crate::count::{bank_conflicts, sectors};
use crate::fault::Fault;
use crate::lanes::{NARROW, NONE, write_lane};
use crate::memory::Word;
use crate::program::Access;
use crate::types::Space;

impl Warp {
    pub(super) fn load<M: Mode>(
        &mut self,
        env: &mut Env<'_>,
        activation: &mut Activation,
        access: &Access,
        mask: u32,
        place: Place,
    ) -> Result<(), Box<Fault>> {
        let request = Request::new(&activation.file, &access.address, access.space, access.bytes(), mask, place);
        self.load_request::<M>(env, activation, access, &request)?;
        if M::CHECK && access.strong {
            env.learn(self.index);
        }
        Ok(())
    }

    /// At addresses that are known already.
    pub(super) fn load_request<M: Mode>(
        &mut self,
        env: &mut Env<'_>,
        activation: &mut Activation,
        access: &Access,
        request: &Request,
    ) -> Result<(), Box<Fault>> {
        request.by_space(|request| {
            self.chain_access::<M>(env, request, Use::Read);
            match access.width {
                1 => self.load_words::<M, u8>(env, activation, access, request),
                2 => self.load_words::<M, u16>(env, activation, access, request),
                4 => self.load_words::<M, u32>(env, activation, access, request),
                _ => self.load_words::<M, u64>(env, activation, access, request),
            }
        })
    }

    fn load_words<M: Mode, W: Word>(
        &mut self,
        env: &mut Env<'_>,
        activation: &mut Activation,
        access: &Access,
        request: &Request,
    ) -> Result<(), Box<Fault>> {
        let (at, bytes, mask) = (&request.at, request.bytes, request.mask);
        match request.space {
            Space::Shared => {
                request.inside(env, env.launch.shared_bytes)?;
                if M::COUNT {
                    env.counters.shared_load_requests += 1;
                    env.counters.shared_bank_conflicts += bank_conflicts(at, bytes, mask);
                }
                if M::CHECK {
                    watch::shared_read(env, request, access.strong)?;
                }
                let shared = env.shared_bytes();
                gather::<W>(&mut activation.file, access, mask, |lane, e| {
                    W::read(shared, at[lane] as usize + e * size_of::<W>())
                });
            }
            Space::Local => {
                request.inside(env, activation.end)?;
                if M::COUNT {
                    env.counters.local_requests += 1;
                }
                if M::CHECK {
                    let unwritten = watch::unwritten(&self.local, request);
                    if unwritten != 0 {
                        for &(row, _) in access.elements.iter().filter(|&&(row, _)| row != NONE) {
                            activation.poison.set(row, mask, (unwritten, bytes));
                        }
                    }
                }
                let (stride, local) = (self.local.stride as usize, self.local.bytes());
                gather::<W>(&mut activation.file, access, mask, |lane, e| {
                    W::read(local, lane * stride + at[lane] as usize + e * size_of::<W>())
                });
            }
            Space::Param => {
                let parameters = env.launch.parameters;
                request.inside(env, parameters.len() as u64)?;
                gather::<W>(&mut activation.file, access, mask, |lane, e| {
                    W::read(parameters, at[lane] as usize + e * size_of::<W>())
                });
            }
            Space::Global | Space::Const | Space::Generic => {
                let regions = self.locate(env, request)?;
                if M::COUNT {
                    env.counters.global_load_requests += 1;
                    env.counters.global_load_sectors += sectors(at, bytes, mask);
                    env.counters.global_load_bytes += bytes * u64::from(mask.count_ones());
                }
                if access.strong {
                    env.inform();
                }
                let live = &env.launch.memory.live;
                if M::CHECK {
                    watch::global_reads(env, request, &regions, access.strong)?;
                }
                match regions {
                    Regions::One(index) => {
                        let region = &*live[index];
                        gather::<W>(&mut activation.file, access, mask, |lane, e| {
                            W::load(region, at[lane] - region.base + e as u64 * W::BYTES)
                        });
                    }
                    Regions::Many(_) => gather::<W>(&mut activation.file, access, mask, |lane, e| {
                        let region = &*live[regions.of(lane)];
                        W::load(region, at[lane] - region.base + e as u64 * W::BYTES)
                    }),
                }
            }
        }
        Ok(())
    }
}

/// Reads each element of each lane into its register.
#[inline(always)]
fn gather<W: Word>(file: &mut [u64], access: &Access, mask: u32, read: impl Fn(usize, usize) -> W) {
    for (e, &(row, words)) in access.elements.iter().enumerate() {
        if row == NONE {
            continue;
        }
        if mask == u32::MAX && words == NARROW && !access.signed {
            let row = &mut file[row as usize..row as usize + NARROW as usize];
            for (i, pair) in row.iter_mut().enumerate() {
                let (low, high) = (read(2 * i, e).zero_extended(), read(2 * i + 1, e).zero_extended());
                *pair = pair_of(low, high);
            }
            continue;
        }
        for lane in lanes(mask) {
            let value = read(lane, e);
            let value = if access.signed { value.sign_extended() } else { value.zero_extended() };
            write_lane(file, row, words, lane, value);
        }
    }
}

/// Two lanes of 32 bits in one word, as the host orders them.
#[inline(always)]
fn pair_of(low: u64, high: u64) -> u64 {
    if cfg!(target_endian = "little") { low & 0xffff_ffff | high << 32 } else { low << 32 | high & 0xffff_ffff }
}
