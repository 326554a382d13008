//! Stores.

use super::chain::Use;
use super::env::{Env, Mode, Place};
use super::request::Request;
use super::step::lanes;
use super::warp::{Activation, Warp};
use super::watch;
use crate::count::{bank_conflicts, sectors};
use crate::fault::{Fault, FaultKind};
use crate::lanes::read_lane;
use crate::memory::Word;
use crate::program::Access;
use crate::types::Space;

impl Warp {
    pub(super) fn store<M: Mode>(
        &mut self,
        env: &mut Env<'_>,
        activation: &mut Activation,
        access: &Access,
        mask: u32,
        place: Place,
    ) -> Result<(), Box<Fault>> {
        if M::CHECK && access.ordered {
            env.publish(self.index);
        }
        let request = Request::new(&activation.file, &access.address, access.space, access.bytes(), mask, place);
        self.store_request::<M>(env, activation, access, &request)
    }

    /// At addresses that are known already.
    pub(super) fn store_request<M: Mode>(
        &mut self,
        env: &mut Env<'_>,
        activation: &mut Activation,
        access: &Access,
        request: &Request,
    ) -> Result<(), Box<Fault>> {
        request.by_space(|request| {
            self.chain_access::<M>(env, request, Use::Write);
            match access.width {
                1 => self.store_words::<M, u8>(env, activation, access, request),
                2 => self.store_words::<M, u16>(env, activation, access, request),
                4 => self.store_words::<M, u32>(env, activation, access, request),
                _ => self.store_words::<M, u64>(env, activation, access, request),
            }
        })
    }

    fn store_words<M: Mode, W: Word>(
        &mut self,
        env: &mut Env<'_>,
        activation: &Activation,
        access: &Access,
        request: &Request,
    ) -> Result<(), Box<Fault>> {
        let (bytes, mask) = (request.bytes, request.mask);
        let file = &activation.file;
        match request.space {
            Space::Shared => {
                request.inside(env, env.launch.shared_bytes)?;
                if M::COUNT {
                    env.counters.shared_store_requests += 1;
                    env.counters.shared_bank_conflicts += bank_conflicts(&request.at, bytes, mask);
                }
                for lane in lanes(mask) {
                    let at = request.at[lane] as usize;
                    if M::CHECK && !watch::common_shared_write(env, request, lane, access.strong) {
                        let shared = env.shared_bytes();
                        let same = each::<W>(file, access, lane, |e, value| {
                            W::read(shared, at + e * size_of::<W>()).zero_extended() == value.zero_extended()
                        });
                        watch::shared_write(env, &request.lane(lane, access.strong), same)?;
                    }
                    let shared = env.shared_bytes_mut();
                    each::<W>(file, access, lane, |e, value| {
                        value.write(shared, at + e * size_of::<W>());
                        true
                    });
                }
            }
            Space::Local => {
                request.inside(env, activation.end)?;
                if M::COUNT {
                    env.counters.local_requests += 1;
                }
                let stride = self.local.stride as usize;
                let poisoned = if M::CHECK { activation.poisoned(access) } else { 0 };
                for lane in lanes(mask) {
                    let at = lane * stride + request.at[lane] as usize;
                    self.local.mark(at, bytes as usize, poisoned >> lane & 1 == 0);
                    let local = self.local.bytes_mut();
                    each::<W>(file, access, lane, |e, value| {
                        value.write(local, at + e * size_of::<W>());
                        true
                    });
                }
            }
            Space::Param => return Err(request.read_only(env)),
            Space::Global | Space::Const | Space::Generic => {
                let regions = self.locate(env, request)?;
                if M::COUNT {
                    env.counters.global_store_requests += 1;
                    env.counters.global_store_sectors += sectors(&request.at, bytes, mask);
                    env.counters.global_store_bytes += bytes * u64::from(mask.count_ones());
                }
                if access.ordered
                    && let Some(shadow) = &env.launch.shadow
                {
                    shadow.fence(env.linear);
                }
                let launch = env.launch;
                for lane in lanes(mask) {
                    let index = regions.of(lane);
                    let region = &*launch.memory.live[index];
                    if region.constant {
                        return Err(request.fault(env, FaultKind::ReadOnly, lane));
                    }
                    let at = request.at[lane] - region.base;
                    let common =
                        M::CHECK && watch::common_global_write(env, request, (index, region), lane, access.strong);
                    if M::CHECK && !common {
                        let same = each::<W>(file, access, lane, |e, value| {
                            W::load(region, at + e as u64 * W::BYTES).zero_extended() == value.zero_extended()
                        });
                        watch::global_write(env, &request.lane(lane, access.strong), index, region, same)?;
                    }
                    each::<W>(file, access, lane, |e, value| {
                        value.store(region, at + e as u64 * W::BYTES);
                        true
                    });
                }
            }
        }
        Ok(())
    }
}

/// Goes through the elements of one lane; tells whether `visit` was true for all.
#[inline(always)]
fn each<W: Word>(file: &[u64], access: &Access, lane: usize, mut visit: impl FnMut(usize, W) -> bool) -> bool {
    let mut all = true;
    for (e, &(row, words)) in access.elements.iter().enumerate() {
        all &= visit(e, W::from_u64(read_lane(file, row, words, lane)));
    }
    all
}
