//! Counts of what decides speed on a GPU.

use crate::lanes::LANES;

/// What a launch did. A request is one instruction of one warp; a sector is 32 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Instructions of warps.
    pub instructions: u64,
    /// Instructions of lanes: each instruction counts for the lanes that took part.
    pub lane_instructions: u64,
    /// Loads from global memory.
    pub global_load_requests: u64,
    /// Stores to global memory.
    pub global_store_requests: u64,
    /// Sectors that loads from global memory touched.
    pub global_load_sectors: u64,
    /// Sectors that stores to global memory touched.
    pub global_store_sectors: u64,
    /// Bytes that lanes loaded from global memory.
    pub global_load_bytes: u64,
    /// Bytes that lanes stored to global memory.
    pub global_store_bytes: u64,
    /// Loads from shared memory.
    pub shared_load_requests: u64,
    /// Stores to shared memory.
    pub shared_store_requests: u64,
    /// Passes over shared memory beyond those that its width demands.
    pub shared_bank_conflicts: u64,
    /// Loads from and stores to local memory.
    pub local_requests: u64,
    /// Branches that sent lanes of a warp to different places.
    pub divergent_branches: u64,
    /// Barriers that warps reached.
    pub barriers: u64,
    /// Atomic operations of lanes.
    pub atomics: u64,
    /// Blocks.
    pub blocks: u64,
}

impl Counters {
    /// Adds what another part of the launch did.
    pub(crate) fn add(&mut self, other: &Self) {
        self.instructions += other.instructions;
        self.lane_instructions += other.lane_instructions;
        self.global_load_requests += other.global_load_requests;
        self.global_store_requests += other.global_store_requests;
        self.global_load_sectors += other.global_load_sectors;
        self.global_store_sectors += other.global_store_sectors;
        self.global_load_bytes += other.global_load_bytes;
        self.global_store_bytes += other.global_store_bytes;
        self.shared_load_requests += other.shared_load_requests;
        self.shared_store_requests += other.shared_store_requests;
        self.shared_bank_conflicts += other.shared_bank_conflicts;
        self.local_requests += other.local_requests;
        self.divergent_branches += other.divergent_branches;
        self.barriers += other.barriers;
        self.atomics += other.atomics;
        self.blocks += other.blocks;
    }
}

/// Different sectors that lanes of the mask touch with accesses of `bytes` bytes.
pub(crate) fn sectors(addresses: &[u64; LANES], bytes: u64, mask: u32) -> u64 {
    let mut touched = [0_u64; 2 * LANES];
    let mut count = 0;
    let mut sorted = true;
    for (lane, &address) in addresses.iter().enumerate() {
        if mask >> lane & 1 == 0 {
            continue;
        }
        // Accesses of 32 bytes are aligned to 32: no access touches more than one sector, unless it is misaligned.
        for sector in [address / 32, (address + bytes - 1) / 32] {
            if count > 0 && touched[count - 1] == sector {
                continue;
            }
            sorted &= count == 0 || touched[count - 1] < sector;
            touched[count] = sector;
            count += 1;
        }
    }
    if sorted {
        return count as u64;
    }
    let touched = &mut touched[..count];
    touched.sort_unstable();
    1 + touched.windows(2).filter(|pair| pair[0] != pair[1]).count() as u64
}

/// Passes that an access to shared memory needs beyond the least: there are 32 banks of 4 bytes, and lanes that want
/// different words of one bank wait for each other. Accesses of 8 bytes go by half warps, of 16 by quarters.
pub(crate) fn bank_conflicts(addresses: &[u64; LANES], bytes: u64, mask: u32) -> u64 {
    let words = bytes.div_ceil(4).max(1);
    let lanes = (LANES as u64 / words).max(1) as usize;
    let mut conflicts = 0;
    for first in (0..LANES).step_by(lanes) {
        let mut bank = [u64::MAX; 32];
        let mut clash = false;
        'phase: for (lane, &address) in addresses.iter().enumerate().skip(first).take(lanes) {
            if mask >> lane & 1 == 0 {
                continue;
            }
            for word in 0..words {
                let word = address / 4 + word;
                let seen = &mut bank[(word % 32) as usize];
                if *seen == u64::MAX {
                    *seen = word;
                } else if *seen != word {
                    clash = true;
                    break 'phase;
                }
            }
        }
        if clash {
            conflicts += clashes(addresses, words, mask, first, lanes);
        }
    }
    conflicts
}

/// Most different words in one bank, less one.
fn clashes(addresses: &[u64; LANES], words: u64, mask: u32, first: usize, lanes: usize) -> u64 {
    let mut touched = [(0_u64, 0_u64); LANES];
    let mut count = 0;
    for (lane, &address) in addresses.iter().enumerate().skip(first).take(lanes) {
        for word in 0..words {
            if mask >> lane & 1 != 0 && count < LANES {
                let word = address / 4 + word;
                touched[count] = (word % 32, word);
                count += 1;
            }
        }
    }
    let touched = &mut touched[..count];
    touched.sort_unstable();
    let (mut most, mut run) = (1, 1);
    for pair in touched.windows(2) {
        if pair[0].0 != pair[1].0 {
            run = 1;
        } else if pair[0].1 != pair[1].1 {
            run += 1;
        }
        most = most.max(run);
    }
    most - 1
}
