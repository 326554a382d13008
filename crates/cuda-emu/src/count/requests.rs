//! What requests to memory cost: sectors of global memory, banks of shared memory.

use crate::lanes::LANES;

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
