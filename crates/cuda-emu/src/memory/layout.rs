//! Where spaces lie in the generic address space. Global and constant memory have their own addresses; the other
//! spaces have windows, whose offsets are addresses in the space itself.

/// Size of a window in bytes.
pub(crate) const WINDOW: u64 = 1 << 32;
/// Window of shared memory.
pub(crate) const SHARED: u64 = 1 << 40;
/// Window of local memory.
pub(crate) const LOCAL: u64 = 2 << 40;
/// Window of a kernel's parameters; the highest one.
pub(crate) const PARAMETERS: u64 = 3 << 40;
/// First address of the memory of the first device.
pub(crate) const DEVICE: u64 = 0x7f00_0000_0000;
/// Addresses that a device has: its first one is so far from that of the device before.
pub(crate) const STRETCH: u64 = 1 << 44;
/// Addresses of functions, as called through registers: one every 16 bytes.
pub(crate) const FUNCTIONS: u64 = 4 << 40;
