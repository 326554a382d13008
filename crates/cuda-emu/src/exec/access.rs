//! Loads and stores: addresses, bounds, checks, counts, and the words themselves.

use super::env::{Env, Mode, Place};
use super::step::lanes;
use super::warp::{Activation, Warp};
use crate::count::{bank_conflicts, sectors};
use crate::fault::{Fault, FaultKind};
use crate::lanes::{LANES, NARROW, NONE, read_lane, write_lane};
use crate::memory::layout::{LOCAL, PARAMETERS, SHARED, WINDOW};
use crate::memory::{Region, Word};
use crate::program::{Access, Address, CopyAsync};
use crate::types::Space;

/// Addresses of all lanes, in the space of the access.
pub(super) fn addresses(file: &[u64], address: &Address) -> [u64; LANES] {
    let mut all = [0; LANES];
    if address.words == NARROW {
        for (lane, one) in all.iter_mut().enumerate() {
            *one = read_lane(file, address.row, NARROW, lane).wrapping_add_signed(address.offset) & 0xffff_ffff;
        }
    } else {
        let row = &file[address.row as usize..address.row as usize + LANES];
        for (one, &base) in all.iter_mut().zip(row) {
            *one = base.wrapping_add_signed(address.offset);
        }
    }
    all
}

/// The space that a generic address is in, and its offset there.
pub(super) fn window(address: u64) -> (Space, u64) {
    for (space, base) in [(Space::Shared, SHARED), (Space::Local, LOCAL), (Space::Param, PARAMETERS)] {
        let offset = address.wrapping_sub(base);
        if offset < WINDOW {
            return (space, offset);
        }
    }
    (Space::Global, address)
}

/// Lanes of a generic access by space, with addresses in it.
pub(super) fn by_space(mask: u32, addresses: &[u64; LANES]) -> Vec<(Space, u32, [u64; LANES])> {
    let mut parts: Vec<(Space, u32, [u64; LANES])> = Vec::with_capacity(1);
    for lane in lanes(mask) {
        let (space, offset) = window(addresses[lane]);
        let position = parts.iter().position(|part| part.0 == space).unwrap_or_else(|| {
            parts.push((space, 0, [0; LANES]));
            parts.len() - 1
        });
        parts[position].1 |= 1 << lane;
        parts[position].2[lane] = offset;
    }
    parts
}

impl Warp {
    pub(super) fn load<M: Mode>(
        &mut self,
        env: &mut Env<'_>,
        activation: &mut Activation,
        access: &Access,
        mask: u32,
        place: Place,
    ) -> Result<(), Box<Fault>> {
        let all = addresses(&activation.file, &access.address);
        match access.space {
            Space::Generic => {
                for (space, mask, all) in by_space(mask, &all) {
                    self.load_from::<M>(env, activation, access, space, &all, mask, place)?;
                }
                Ok(())
            }
            space => self.load_from::<M>(env, activation, access, space, &all, mask, place),
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn load_from<M: Mode>(
        &mut self,
        env: &mut Env<'_>,
        activation: &mut Activation,
        access: &Access,
        space: Space,
        all: &[u64; LANES],
        mask: u32,
        place: Place,
    ) -> Result<(), Box<Fault>> {
        match access.width {
            1 => self.load_words::<M, u8>(env, activation, access, space, all, mask, place),
            2 => self.load_words::<M, u16>(env, activation, access, space, all, mask, place),
            4 => self.load_words::<M, u32>(env, activation, access, space, all, mask, place),
            _ => self.load_words::<M, u64>(env, activation, access, space, all, mask, place),
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn load_words<M: Mode, W: Word>(
        &mut self,
        env: &mut Env<'_>,
        activation: &mut Activation,
        access: &Access,
        space: Space,
        all: &[u64; LANES],
        mask: u32,
        place: Place,
    ) -> Result<(), Box<Fault>> {
        let bytes = access.bytes();
        match space {
            Space::Shared => {
                inside(env, space, all, env.launch.shared_bytes, bytes, mask, place)?;
                if M::COUNT {
                    env.counters.shared_load_requests += 1;
                    env.counters.shared_bank_conflicts += bank_conflicts(all, bytes, mask);
                }
                if M::CHECK {
                    check_shared_read(env, access.strong, all, bytes, mask, place)?;
                }
                let shared = env.shared_bytes();
                gather::<W>(&mut activation.file, access, mask, |lane, e| {
                    W::read(shared, all[lane] as usize + e * size_of::<W>())
                });
            }
            Space::Local => {
                inside(env, space, all, activation.end, bytes, mask, place)?;
                if M::COUNT {
                    env.counters.local_requests += 1;
                }
                let (stride, local) = (self.local.stride as usize, self.local.bytes());
                gather::<W>(&mut activation.file, access, mask, |lane, e| {
                    W::read(local, lane * stride + all[lane] as usize + e * size_of::<W>())
                });
            }
            Space::Param => {
                let parameters = env.launch.parameters;
                inside(env, space, all, parameters.len() as u64, bytes, mask, place)?;
                gather::<W>(&mut activation.file, access, mask, |lane, e| {
                    W::read(parameters, all[lane] as usize + e * size_of::<W>())
                });
            }
            Space::Global | Space::Const | Space::Generic => {
                let regions = self.locate(env, all, bytes, mask, place)?;
                if M::COUNT {
                    env.counters.global_load_requests += 1;
                    env.counters.global_load_sectors += sectors(all, bytes, mask);
                    env.counters.global_load_bytes += bytes * u64::from(mask.count_ones());
                }
                if access.strong {
                    env.informed = true;
                }
                let live = &env.launch.memory.live;
                if M::CHECK {
                    for lane in lanes(mask) {
                        let region = &live[regions.of(lane)];
                        check_global_read(env, regions.of(lane), region, access.strong, all[lane], bytes, place, lane)?;
                    }
                }
                match regions {
                    Regions::One(index) => {
                        let region = &*live[index];
                        gather::<W>(&mut activation.file, access, mask, |lane, e| {
                            W::load(region, all[lane] - region.base + e as u64 * W::BYTES)
                        });
                    }
                    Regions::Many(_) => gather::<W>(&mut activation.file, access, mask, |lane, e| {
                        let region = &*live[regions.of(lane)];
                        W::load(region, all[lane] - region.base + e as u64 * W::BYTES)
                    }),
                }
            }
        }
        Ok(())
    }

    pub(super) fn store<M: Mode>(
        &mut self,
        env: &mut Env<'_>,
        activation: &mut Activation,
        access: &Access,
        mask: u32,
        place: Place,
    ) -> Result<(), Box<Fault>> {
        let all = addresses(&activation.file, &access.address);
        match access.space {
            Space::Generic => {
                for (space, mask, all) in by_space(mask, &all) {
                    self.store_to::<M>(env, activation, access, space, &all, mask, place)?;
                }
                Ok(())
            }
            space => self.store_to::<M>(env, activation, access, space, &all, mask, place),
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn store_to<M: Mode>(
        &mut self,
        env: &mut Env<'_>,
        activation: &Activation,
        access: &Access,
        space: Space,
        all: &[u64; LANES],
        mask: u32,
        place: Place,
    ) -> Result<(), Box<Fault>> {
        match access.width {
            1 => self.store_words::<M, u8>(env, activation, access, space, all, mask, place),
            2 => self.store_words::<M, u16>(env, activation, access, space, all, mask, place),
            4 => self.store_words::<M, u32>(env, activation, access, space, all, mask, place),
            _ => self.store_words::<M, u64>(env, activation, access, space, all, mask, place),
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn store_words<M: Mode, W: Word>(
        &mut self,
        env: &mut Env<'_>,
        activation: &Activation,
        access: &Access,
        space: Space,
        all: &[u64; LANES],
        mask: u32,
        place: Place,
    ) -> Result<(), Box<Fault>> {
        let bytes = access.bytes();
        let file = &activation.file;
        match space {
            Space::Shared => {
                inside(env, space, all, env.launch.shared_bytes, bytes, mask, place)?;
                if M::COUNT {
                    env.counters.shared_store_requests += 1;
                    env.counters.shared_bank_conflicts += bank_conflicts(all, bytes, mask);
                }
                for lane in lanes(mask) {
                    let at = all[lane] as usize;
                    if M::CHECK {
                        let shared = env.shared_bytes();
                        let same = each::<W>(file, access, lane, |e, value| {
                            W::read(shared, at + e * size_of::<W>()).zero_extended() == value.zero_extended()
                        });
                        check_shared_write(env, access.strong, all[lane], bytes, same, place, lane)?;
                    }
                    let shared = env.shared_bytes_mut();
                    each::<W>(file, access, lane, |e, value| {
                        value.write(shared, at + e * size_of::<W>());
                        true
                    });
                }
            }
            Space::Local => {
                inside(env, space, all, activation.end, bytes, mask, place)?;
                if M::COUNT {
                    env.counters.local_requests += 1;
                }
                let stride = self.local.stride as usize;
                let local = self.local.bytes_mut();
                for lane in lanes(mask) {
                    let at = lane * stride + all[lane] as usize;
                    each::<W>(file, access, lane, |e, value| {
                        value.write(local, at + e * size_of::<W>());
                        true
                    });
                }
            }
            Space::Param => {
                let lane = mask.trailing_zeros() as usize;
                return Err(env.access_fault(FaultKind::ReadOnly, place, lane, space, all[lane]));
            }
            Space::Global | Space::Const | Space::Generic => {
                let regions = self.locate(env, all, bytes, mask, place)?;
                if M::COUNT {
                    env.counters.global_store_requests += 1;
                    env.counters.global_store_sectors += sectors(all, bytes, mask);
                    env.counters.global_store_bytes += bytes * u64::from(mask.count_ones());
                }
                if access.ordered
                    && let Some(shadow) = &env.launch.shadow
                {
                    shadow.fence(env.linear);
                }
                let launch = env.launch;
                for lane in lanes(mask) {
                    let region = &*launch.memory.live[regions.of(lane)];
                    if region.constant {
                        return Err(env.access_fault(FaultKind::ReadOnly, place, lane, space, all[lane]));
                    }
                    let at = all[lane] - region.base;
                    if M::CHECK {
                        let same = each::<W>(file, access, lane, |e, value| {
                            W::load(region, at + e as u64 * W::BYTES).zero_extended() == value.zero_extended()
                        });
                        check_global_write(env, regions.of(lane), region, access.strong, at, bytes, same, place, lane)?;
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

    /// The regions of a global access, which must be inside them and aligned.
    pub(super) fn locate(
        &mut self,
        env: &Env<'_>,
        all: &[u64; LANES],
        bytes: u64,
        mask: u32,
        place: Place,
    ) -> Result<Regions, Box<Fault>> {
        let memory = &env.launch.memory;
        if let Some(region) = memory.live.get(self.hint) {
            let mut good = true;
            for (lane, &address) in all.iter().enumerate() {
                let at = address.wrapping_sub(region.base);
                let fits =
                    at <= region.bytes.wrapping_sub(bytes) && bytes <= region.bytes && address & (bytes - 1) == 0;
                good &= fits | (mask >> lane & 1 == 0);
            }
            if good {
                return Ok(Regions::One(self.hint));
            }
        }
        let mut found = [0_u32; LANES];
        for lane in lanes(mask) {
            let address = all[lane];
            if address & (bytes - 1) != 0 {
                return Err(env.access_fault(FaultKind::Misaligned { bytes }, place, lane, Space::Global, address));
            }
            match memory.locate(address, bytes, &mut self.hint) {
                Some((index, _)) => found[lane] = index as u32,
                None => {
                    return Err(env.access_fault(
                        FaultKind::OutOfBounds { bytes },
                        place,
                        lane,
                        Space::Global,
                        address,
                    ));
                }
            }
        }
        Ok(Regions::Many(found))
    }

    /// Copies at once what the hardware copies later.
    pub(super) fn copy_async<M: Mode>(
        &mut self,
        env: &mut Env<'_>,
        activation: &mut Activation,
        copy: &CopyAsync,
        mask: u32,
        place: Place,
    ) -> Result<(), Box<Fault>> {
        let file = &activation.file;
        let (to, from) = (addresses(file, &copy.to), addresses(file, &copy.from));
        let bytes = u64::from(copy.bytes);
        inside(env, Space::Shared, &to, env.launch.shared_bytes, bytes, mask, place)?;
        let mut reading = 0;
        let mut sizes = [bytes; LANES];
        for lane in lanes(mask) {
            if copy.source_bytes != NONE {
                sizes[lane] = read_lane(file, copy.source_bytes, NARROW, lane).min(bytes);
            }
            if copy.ignore != NONE && read_lane(file, copy.ignore, 1, lane) != 0 {
                sizes[lane] = 0;
            }
            reading |= u32::from(sizes[lane] > 0) << lane;
        }
        // An access that reads less than its size must still be aligned to it.
        let regions = if reading == 0 { None } else { Some(self.locate(env, &from, bytes, reading, place)?) };
        if M::COUNT {
            env.counters.shared_store_requests += 1;
            if reading != 0 {
                env.counters.global_load_requests += 1;
                env.counters.global_load_sectors += sectors(&from, bytes, reading);
                env.counters.global_load_bytes += lanes(reading).map(|lane| sizes[lane]).sum::<u64>();
            }
        }
        let launch = env.launch;
        for lane in lanes(mask) {
            let mut buffer = [0; 16];
            if let (Some(regions), true) = (&regions, sizes[lane] > 0) {
                let region = &*launch.memory.live[regions.of(lane)];
                if M::CHECK {
                    check_global_read(env, regions.of(lane), region, false, from[lane], sizes[lane], place, lane)?;
                }
                region.read(from[lane] - region.base, &mut buffer[..sizes[lane] as usize]);
            }
            if M::CHECK {
                check_shared_write(env, false, to[lane], bytes, false, place, lane)?;
            }
            let at = to[lane] as usize;
            env.shared_bytes_mut()[at..at + bytes as usize].copy_from_slice(&buffer[..bytes as usize]);
        }
        Ok(())
    }
}

/// Where lanes' addresses are, as indices of regions.
pub(super) enum Regions {
    One(usize),
    Many([u32; LANES]),
}

impl Regions {
    #[inline(always)]
    pub(super) fn of(&self, lane: usize) -> usize {
        match self {
            Self::One(index) => *index,
            Self::Many(found) => found[lane] as usize,
        }
    }
}

/// Fails unless all lanes are aligned and below `limit`.
pub(super) fn inside(
    env: &Env<'_>,
    space: Space,
    all: &[u64; LANES],
    limit: u64,
    bytes: u64,
    mask: u32,
    place: Place,
) -> Result<(), Box<Fault>> {
    let mut good = bytes <= limit;
    let last = limit.wrapping_sub(bytes);
    for (lane, &address) in all.iter().enumerate() {
        good &= (address <= last) & (address & (bytes - 1) == 0) | (mask >> lane & 1 == 0);
    }
    if good {
        return Ok(());
    }
    for lane in lanes(mask) {
        let address = all[lane];
        let kind = if bytes > limit || address > last {
            FaultKind::OutOfBounds { bytes }
        } else if address & (bytes - 1) != 0 {
            FaultKind::Misaligned { bytes }
        } else {
            continue;
        };
        return Err(env.access_fault(kind, place, lane, space, address));
    }
    Ok(())
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

/// Goes through the elements of one lane; tells whether `visit` was true for all.
#[inline(always)]
fn each<W: Word>(file: &[u64], access: &Access, lane: usize, mut visit: impl FnMut(usize, W) -> bool) -> bool {
    let mut all = true;
    for (e, &(row, words)) in access.elements.iter().enumerate() {
        all &= visit(e, W::from_u64(read_lane(file, row, words, lane)));
    }
    all
}

pub(super) fn check_shared_read(
    env: &mut Env<'_>,
    atomic: bool,
    all: &[u64; LANES],
    bytes: u64,
    mask: u32,
    place: Place,
) -> Result<(), Box<Fault>> {
    let mut shadow = std::mem::take(&mut env.shadow);
    let mut result = Ok(());
    for lane in lanes(mask) {
        if env.launch.uninitialised && !shadow.is_written(all[lane], bytes) {
            let kind = FaultKind::Uninitialised { bytes };
            result = Err(env.access_fault(kind, place, lane, Space::Shared, all[lane]));
            break;
        }
        if env.launch.races
            && let Some(conflict) = shadow.read(&env.accessor(place, lane, atomic), all[lane], bytes)
        {
            result = Err(env.race(conflict, false, place, lane, Space::Shared, all[lane]));
            break;
        }
    }
    env.shadow = shadow;
    result
}

pub(super) fn check_shared_write(
    env: &mut Env<'_>,
    atomic: bool,
    address: u64,
    bytes: u64,
    same: bool,
    place: Place,
    lane: usize,
) -> Result<(), Box<Fault>> {
    let mut shadow = std::mem::take(&mut env.shadow);
    // What nothing has written has no value that could stay the same.
    let same = same && shadow.is_written(address, bytes);
    shadow.mark(address, bytes);
    let conflict =
        if env.launch.races { shadow.write(&env.accessor(place, lane, atomic), address, bytes, same) } else { None };
    env.shadow = shadow;
    match conflict {
        None => Ok(()),
        Some(conflict) => Err(env.race(conflict, true, place, lane, Space::Shared, address)),
    }
}

#[allow(clippy::too_many_arguments)]
pub(super) fn check_global_read(
    env: &Env<'_>,
    index: usize,
    region: &Region,
    atomic: bool,
    address: u64,
    bytes: u64,
    place: Place,
    lane: usize,
) -> Result<(), Box<Fault>> {
    let at = address - region.base;
    if env.launch.uninitialised && !region.is_written(at, bytes) {
        let kind = FaultKind::Uninitialised { bytes };
        return Err(env.access_fault(kind, place, lane, Space::Global, address));
    }
    if let (Some(shadow), false) = (&env.launch.shadow, region.constant) {
        let accessor = env.accessor(place, lane, atomic);
        if let Some(conflict) = shadow.read(&accessor, index, region.bytes, at, bytes) {
            return Err(env.race(conflict, false, place, lane, Space::Global, address));
        }
    }
    Ok(())
}

#[allow(clippy::too_many_arguments)]
pub(super) fn check_global_write(
    env: &Env<'_>,
    index: usize,
    region: &Region,
    atomic: bool,
    at: u64,
    bytes: u64,
    same: bool,
    place: Place,
    lane: usize,
) -> Result<(), Box<Fault>> {
    let same = same && region.is_written(at, bytes);
    region.mark(at, bytes);
    if let Some(shadow) = &env.launch.shadow {
        let accessor = env.accessor(place, lane, atomic);
        if let Some(conflict) = shadow.write(&accessor, index, region.bytes, at, bytes, same) {
            return Err(env.race(conflict, true, place, lane, Space::Global, region.base + at));
        }
    }
    Ok(())
}
