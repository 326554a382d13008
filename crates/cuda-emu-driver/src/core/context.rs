//! Contexts: limits, the fault that sticks, and the work of their streams.

use std::sync::atomic::{AtomicI32, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use super::driver::Driver;
use super::lock;
use super::queue::Queues;
use crate::error::{Code, Error, Result, invalid};

/// Limits by their number in `CUlimit`: bytes of a thread's stack, of the buffer of `printf`, of the heap.
const LIMITS: usize = 3;
/// Most bytes of local memory of a thread.
const MOST_STACK: usize = 512 << 10;
/// All flags of a context that `cuda.h` has.
const FLAGS: u32 = 0x1f;

/// A context.
#[derive(Debug)]
pub(crate) struct Context {
    /// Tells contexts apart.
    pub(crate) number: u64,
    pub(crate) primary: bool,
    /// Index of its device.
    pub(crate) device: usize,
    pub(crate) queues: Queues,
    flags: AtomicU32,
    limits: Mutex<[usize; LIMITS]>,
    cache: AtomicI32,
    banks: AtomicI32,
    fault: OnceLock<Code>,
}

/// A device's primary context.
#[derive(Debug, Default)]
pub(crate) struct Primary {
    handle: Option<usize>,
    users: u32,
    flags: u32,
}

impl Context {
    fn new(flags: u32, primary: bool, device: usize) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self {
            number: NEXT.fetch_add(1, Ordering::Relaxed),
            primary,
            device,
            queues: Queues::default(),
            flags: AtomicU32::new(flags),
            limits: Mutex::new([MOST_STACK, 1 << 20, 8 << 20]),
            cache: AtomicI32::new(0),
            banks: AtomicI32::new(1),
            fault: OnceLock::new(),
        }
    }

    /// The error of an earlier fault, if there was one.
    pub(crate) fn check(&self) -> Result<()> {
        self.fault.get().map_or(Ok(()), |&code| Err(Error::Sticky(code)))
    }

    /// Makes the first fault stick.
    pub(crate) fn fail(&self, code: Code) {
        let _ = self.fault.set(code);
    }

    pub(crate) fn flags(&self) -> u32 {
        self.flags.load(Ordering::Relaxed)
    }

    fn limit_index(limit: i32) -> Result<usize> {
        usize::try_from(limit).ok().filter(|&index| index < LIMITS).ok_or(Error::Limit(limit))
    }

    /// A limit in bytes.
    pub(crate) fn limit(&self, limit: i32) -> Result<usize> {
        Ok(lock(&self.limits)[Self::limit_index(limit)?])
    }

    /// Sets a limit in bytes.
    pub(crate) fn set_limit(&self, limit: i32, value: usize) -> Result<()> {
        let index = Self::limit_index(limit)?;
        if index == 0 && value > MOST_STACK {
            return Err(invalid!("a stack of {value} bytes, at most {MOST_STACK} are possible"));
        }
        lock(&self.limits)[index] = value;
        Ok(())
    }

    /// Bytes of local memory of a thread.
    pub(crate) fn stack_bytes(&self) -> u64 {
        lock(&self.limits)[0] as u64
    }

    /// Preference of cache or shared memory, which changes nothing here.
    pub(crate) fn cache(&self) -> i32 {
        self.cache.load(Ordering::Relaxed)
    }

    pub(crate) fn set_cache(&self, config: i32) -> Result<()> {
        check_config(config, 3)?;
        self.cache.store(config, Ordering::Relaxed);
        Ok(())
    }

    /// Width of shared banks, which is always 4 bytes: the setting is kept, and changes nothing.
    pub(crate) fn banks(&self) -> i32 {
        self.banks.load(Ordering::Relaxed)
    }

    pub(crate) fn set_banks(&self, config: i32) -> Result<()> {
        check_config(config, 2)?;
        self.banks.store(config, Ordering::Relaxed);
        Ok(())
    }
}

/// Refuses what isn't between 0 and `most`.
pub(crate) fn check_config(config: i32, most: i32) -> Result<()> {
    if (0..=most).contains(&config) { Ok(()) } else { Err(invalid!("there is no configuration {config}")) }
}

fn check_flags(flags: u32) -> Result<()> {
    // The three lowest bits are one of four ways to wait.
    if flags & !FLAGS == 0 && matches!(flags & 7, 0 | 1 | 2 | 4) {
        Ok(())
    } else {
        Err(invalid!("there are no context flags {flags:#x}"))
    }
}

impl Driver {
    /// A context by handle.
    pub(crate) fn context_of(&self, handle: usize) -> Result<Arc<Context>> {
        self.contexts.get(handle).map_err(|_| Error::Context(handle))
    }

    /// Makes a context; its handle.
    pub(crate) fn create_context(&self, flags: u32, device: i32) -> Result<usize> {
        let device = self.index_of(device)?;
        check_flags(flags)?;
        Ok(self.contexts.insert(Context::new(flags, false, device)))
    }

    /// Destroys a context that isn't the primary one.
    pub(crate) fn destroy_context(&self, handle: usize) -> Result<()> {
        if self.context_of(handle)?.primary {
            return Err(Error::Context(handle));
        }
        let context = self.contexts.remove(handle).map_err(|_| Error::Context(handle))?;
        self.release(&context);
        Ok(())
    }

    /// One user more of the primary context; its handle.
    pub(crate) fn retain_primary(&self, device: i32) -> Result<usize> {
        let device = self.index_of(device)?;
        let mut primary = lock(&self.primaries[device]);
        let flags = primary.flags;
        let new = || self.contexts.insert(Context::new(flags, true, device));
        let handle = *primary.handle.get_or_insert_with(new);
        primary.users += 1;
        Ok(handle)
    }

    /// One user less; the last one destroys it.
    pub(crate) fn release_primary(&self, device: i32) -> Result<()> {
        let device = self.index_of(device)?;
        let gone = {
            let mut primary = lock(&self.primaries[device]);
            primary.users = primary.users.checked_sub(1).ok_or(Error::Context(0))?;
            if primary.users == 0 { primary.handle.take() } else { None }
        };
        self.drop_primary(gone)
    }

    /// Destroys the primary context, whoever uses it.
    pub(crate) fn reset_primary(&self, device: i32) -> Result<()> {
        let device = self.index_of(device)?;
        let gone = {
            let mut primary = lock(&self.primaries[device]);
            primary.users = 0;
            primary.handle.take()
        };
        self.drop_primary(gone)
    }

    fn drop_primary(&self, handle: Option<usize>) -> Result<()> {
        if let Some(handle) = handle {
            let context = self.contexts.remove(handle).map_err(|_| Error::Context(handle))?;
            self.release(&context);
        }
        Ok(())
    }

    /// Sets the flags of the primary context, now or when it is made.
    pub(crate) fn set_primary_flags(&self, device: i32, flags: u32) -> Result<()> {
        let device = self.index_of(device)?;
        check_flags(flags)?;
        let mut primary = lock(&self.primaries[device]);
        primary.flags = flags;
        if let Some(handle) = primary.handle {
            self.context_of(handle)?.flags.store(flags, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Flags of the primary context, and whether it lives.
    pub(crate) fn primary_state(&self, device: i32) -> Result<(u32, bool)> {
        let primary = lock(&self.primaries[self.index_of(device)?]);
        Ok((primary.flags, primary.handle.is_some()))
    }
}
