//! What requests to memory cost: sectors of global memory, banks of shared memory.

use crate::lanes::LANES;

/// Different sectors that lanes of the mask touch with accesses of `bytes` bytes.
pub(crate) fn sectors(addresses: &[u64; LANES], bytes: u64, mask: u32) -> u64 {
    // Accesses are aligned to their size, which is 32 bytes at most: none touches more than one sector, unless they are
    // larger.
    if bytes > 32 {
        return lanes(addresses, mask).map(|address| (address + bytes - 1) / 32 - address / 32 + 1).sum();
    }
    // Mostly addresses ascend.
    let (mut count, mut last) = (0, u64::MAX);
    for address in lanes(addresses, mask) {
        let sector = address / 32;
        if sector != last {
            if sector < last && count > 0 {
                return unordered_sectors(addresses, mask);
            }
            count += 1;
            last = sector;
        }
    }
    count
}

fn unordered_sectors(addresses: &[u64; LANES], mask: u32) -> u64 {
    let mut touched = [0_u64; LANES];
    let mut count = 0;
    for address in lanes(addresses, mask) {
        touched[count] = address / 32;
        count += 1;
    }
    let touched = &mut touched[..count];
    touched.sort_unstable();
    1 + touched.windows(2).filter(|pair| pair[0] != pair[1]).count() as u64
}

/// Addresses of the lanes of a mask.
fn lanes(addresses: &[u64; LANES], mask: u32) -> impl Iterator<Item = u64> {
    addresses.iter().enumerate().filter(move |(lane, _)| mask >> lane & 1 != 0).map(|(_, &address)| address)
}

/// Passes that an access to shared memory needs beyond the least: there are 32 banks of 4 bytes, and lanes that want
/// different words of one bank wait for each other. Accesses of 8 bytes go by half warps, of 16 by quarters.
pub(crate) fn bank_conflicts(addresses: &[u64; LANES], bytes: u64, mask: u32) -> u64 {
    // In a stretch as long as all banks together, no bank has two words.
    let (mut least, mut most) = (u64::MAX, 0);
    for (lane, &address) in addresses.iter().enumerate() {
        let there = mask >> lane & 1 != 0;
        least = least.min(if there { address } else { u64::MAX });
        most = most.max(if there { address } else { 0 });
    }
    if most.saturating_sub(least) + bytes <= 128 {
        return 0;
    }
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
