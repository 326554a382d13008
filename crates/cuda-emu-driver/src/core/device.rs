//! The devices, which are alike, and their properties.

use crate::error::{Result, invalid};

/// Their name.
pub(crate) const NAME: &str = "Lockstep emulated device";
/// Version of the API: 12.4.
pub(crate) const VERSION: i32 = 12_040;
/// Size of its memory in bytes.
pub(crate) const MEMORY_BYTES: u64 = 16 << 30;
/// Multiprocessors. A constant, so that grids that depend on it are the same on every machine.
pub(crate) const MULTIPROCESSORS: i32 = 16;
/// Most threads of a block.
pub(crate) const THREADS_PER_BLOCK: i32 = 1024;
/// Most threads of a multiprocessor.
pub(crate) const THREADS_PER_MULTIPROCESSOR: i32 = 2048;
/// Most blocks of a multiprocessor.
pub(crate) const BLOCKS_PER_MULTIPROCESSOR: i32 = 32;
/// Most shared memory of a block in bytes, when its kernel asks for it.
pub(crate) const SHARED_PER_BLOCK: i32 = 227 << 10;
/// Shared memory of a multiprocessor in bytes.
pub(crate) const SHARED_PER_MULTIPROCESSOR: i32 = 228 << 10;
/// Shared memory in bytes that the system takes for each block.
pub(crate) const SHARED_RESERVED: i32 = 1 << 10;
/// Shared memory of a block in bytes without asking for more.
pub(crate) const SHARED_DEFAULT: i32 = 48 << 10;
/// Threads of a warp.
pub(crate) const WARP: i32 = 32;
/// Alignment of the rows of pitched memory in bytes.
pub(crate) const PITCH: usize = 512;

/// The UUID of a device: the first bytes of its name, and its number.
pub(crate) fn uuid(device: usize) -> [u8; 16] {
    let mut uuid = *b"Lockstep emul 00";
    uuid[15] += device as u8;
    uuid
}

/// An attribute by its number in `CUdevice_attribute`: those of compute capability 9.0, where the emulator has the
/// same, and 0 for what it hasn't.
pub(crate) fn attribute(number: i32) -> Result<i32> {
    Ok(match number {
        // Threads of a block, and along each dimension.
        1..=3 => THREADS_PER_BLOCK,
        4 => 64,
        // Blocks along each dimension.
        5 => i32::MAX,
        6 | 7 => 65_535,
        8 => SHARED_DEFAULT,
        // Constant memory in bytes.
        9 => 64 << 10,
        10 => WARP,
        // Largest pitch in bytes.
        11 => i32::MAX,
        // Registers of a block and of a multiprocessor.
        12 | 82 => 65_536,
        // Clocks of multiprocessors and memory in kHz.
        13 | 36 => 1_000_000,
        // Copies overlap with kernels.
        15 => 1,
        16 => MULTIPROCESSORS,
        // Concurrent kernels.
        31 => 1,
        // Width of the memory bus in bits, size of L2 in bytes.
        37 => 512,
        38 => 4 << 20,
        39 => THREADS_PER_MULTIPROCESSOR,
        // Copy engines.
        40 => 1,
        // L1 caches, allocation in order of a stream.
        79 | 80 | 115 => 1,
        // Compute capability.
        75 => 9,
        76 => 0,
        81 => SHARED_PER_MULTIPROCESSOR,
        // Ratio of speed in f32 and f64.
        87 => 2,
        97 => SHARED_PER_BLOCK,
        106 => BLOCKS_PER_MULTIPROCESSOR,
        111 => SHARED_RESERVED,
        // Textures, unified, managed and mapped memory, cooperative launches, interconnects: none.
        14
        | 17..=30
        | 32..=35
        | 41..=74
        | 77
        | 78
        | 83..=86
        | 88..=96
        | 98..=105
        | 107..=110
        | 112..=114
        | 116..=119 => 0,
        _ => return Err(invalid!("there is no device attribute {number}")),
    })
}
