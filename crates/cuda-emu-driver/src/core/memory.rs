//! Device memory: which context has allocated what.

use std::collections::BTreeMap;

use super::command::Command;
use super::device::{MEMORY_BYTES, PITCH};
use super::driver::Driver;
use super::lock;
use super::stream::Stream;
use crate::error::{Error, Result, invalid};
use crate::raw::HostRange;

/// Allocations by address.
#[derive(Debug, Default)]
pub(crate) struct Allocations {
    live: BTreeMap<u64, Allocation>,
}

impl Allocations {
    /// Bytes that a device has given out.
    fn bytes_of(&self, device: usize) -> u64 {
        self.live.values().filter(|allocation| allocation.device == device).map(|allocation| allocation.bytes).sum()
    }
}

#[derive(Clone, Copy, Debug)]
struct Allocation {
    context: u64,
    device: usize,
    bytes: u64,
}

impl Driver {
    /// Allocates for the current context; the address.
    pub(crate) fn allocate(&self, bytes: usize) -> Result<u64> {
        let context = self.current()?;
        if bytes == 0 {
            return Err(invalid!("an allocation of 0 bytes"));
        }
        let bytes = bytes as u64;
        let mut allocations = lock(&self.allocations);
        if bytes > MEMORY_BYTES - allocations.bytes_of(context.device) {
            return Err(Error::OutOfMemory(bytes));
        }
        let address = self.device_of(&context).allocate(bytes)?;
        allocations.live.insert(address, Allocation { context: context.number, device: context.device, bytes });
        Ok(address)
    }

    /// Allocates rows of at least `width` bytes; the address, and the distance of rows in bytes.
    pub(crate) fn allocate_pitch(&self, width: usize, height: usize, element: u32) -> Result<(u64, usize)> {
        if !matches!(element, 4 | 8 | 16) {
            return Err(invalid!("elements of {element} bytes; 4, 8 and 16 are possible"));
        }
        let pitch = width.checked_next_multiple_of(PITCH);
        let bytes = pitch.and_then(|pitch| Some((pitch, pitch.checked_mul(height)?)));
        let (pitch, bytes) = bytes.ok_or(Error::OutOfMemory(u64::MAX))?;
        Ok((self.allocate(bytes)?, pitch))
    }

    /// Frees memory at once.
    pub(crate) fn free(&self, address: u64) -> Result<()> {
        let mut allocations = lock(&self.allocations);
        if !allocations.live.contains_key(&address) {
            return Err(invalid!("no allocation begins at {address:#x}"));
        }
        self.device_at(address).free(address)?;
        allocations.live.remove(&address);
        Ok(())
    }

    /// Frees memory after all work of the current context; the address 0 is none.
    pub(crate) fn free_after_all(&self, address: u64) -> Result<()> {
        let context = self.current()?;
        if address == 0 {
            return Ok(());
        }
        context.synchronize(self)?;
        self.free(address)
    }

    /// Frees memory when a stream comes to it.
    pub(crate) fn free_in_order(&self, address: u64, stream: &Stream) -> Result<()> {
        if !lock(&self.allocations).live.contains_key(&address) {
            return Err(invalid!("no allocation begins at {address:#x}"));
        }
        stream.command(self, Command::Free { address })
    }

    /// Frees all memory of a context.
    pub(crate) fn free_all(&self, context: u64) {
        lock(&self.allocations).live.retain(|&address, allocation| {
            let keep = allocation.context != context;
            if !keep {
                // It is in the table, so the device has it.
                let _ = self.device_at(address).free(address);
            }
            keep
        });
    }

    /// Free and total memory in bytes.
    pub(crate) fn memory_info(&self) -> Result<(u64, u64)> {
        let device = self.current()?.device;
        Ok((MEMORY_BYTES - lock(&self.allocations).bytes_of(device), MEMORY_BYTES))
    }

    /// Refuses a range that isn't inside one allocation, or variable of a module.
    fn check_range(&self, address: u64, bytes: u64) -> Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        let (base, size) = self.device_at(address).allocation(address)?;
        if bytes > size - (address - base) {
            return Err(invalid!(
                "{bytes} bytes from {address:#x} on, but the allocation {base:#x} has {size} and begins {} before",
                address - base
            ));
        }
        Ok(())
    }

    /// Copies from the host. Memory that isn't pinned is read now, as a driver does, unless the copy is captured.
    pub(crate) fn copy_in(&self, to: u64, from: HostRange, stream: &Stream) -> Result<()> {
        self.check_range(to, from.bytes() as u64)?;
        let later = stream.captures() || self.host.holds(from.address());
        let command =
            if later { Command::CopyIn { to, from } } else { Command::CopyStaged { to, from: from.read()?.into() } };
        stream.command(self, command)
    }

    /// Copies to the host.
    pub(crate) fn copy_out(&self, to: HostRange, from: u64, stream: &Stream) -> Result<()> {
        self.check_range(from, to.bytes() as u64)?;
        stream.command(self, Command::CopyOut { to, from })
    }

    /// Copies from device memory to device memory.
    pub(crate) fn copy(&self, to: u64, from: u64, bytes: usize, stream: &Stream) -> Result<()> {
        let bytes = bytes as u64;
        self.check_range(to, bytes)?;
        self.check_range(from, bytes)?;
        stream.command(self, Command::Copy { to, from, bytes })
    }

    /// Fills `count` elements of `width` bytes.
    pub(crate) fn fill(&self, to: u64, value: u32, width: usize, count: usize, stream: &Stream) -> Result<()> {
        let bytes = count.checked_mul(width).ok_or_else(|| invalid!("{count} elements of {width} bytes"))?;
        if !to.is_multiple_of(width as u64) {
            return Err(invalid!("{to:#x} isn't aligned to {width} bytes"));
        }
        self.check_range(to, bytes as u64)?;
        stream.command(self, Command::Fill { to, value, width, count: count as u64 })
    }
}
