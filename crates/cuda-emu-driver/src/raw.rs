//! What C hands over, checked.

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_void};
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::error::{Code, Error, Result, invalid};

/// A handle or a host address as a number, as wide as C's pointer. It is never dereferenced as a handle.
pub type Handle = usize;
/// Where a function puts a result: a pointer that is null or valid.
pub type Out<'a, T> = Option<&'a mut MaybeUninit<T>>;
/// A host function of a stream.
pub type HostFunction = Option<unsafe extern "C" fn(*mut c_void)>;

thread_local! {
    static IN_CALLBACK: Cell<bool> = const { Cell::new(false) };
}

/// Runs one function of the API: no panic leaves it, and errors become codes.
pub(crate) fn entry(name: &str, body: impl FnOnce() -> Result<()>) -> i32 {
    // A call from a host function would wait for the stream that runs it.
    let result = if IN_CALLBACK.get() { Ok(Err(Error::InCallback)) } else { catch_unwind(AssertUnwindSafe(body)) };
    let code = match result {
        Ok(Ok(())) => Code::Success,
        Ok(Err(error)) => {
            if error.is_loud() {
                eprintln!("cuda-emu: {name}: {error}");
            }
            error.code()
        }
        Err(_) => Code::Unknown,
    };
    code as i32
}

/// Writes a result.
pub(crate) fn put<T>(out: Out<'_, T>, value: T) -> Result<()> {
    out.ok_or_else(|| invalid!("a pointer to a result is null"))?.write(value);
    Ok(())
}

/// Refuses a null pointer to a result before the call has an effect.
pub(crate) fn wanted<'a, T>(out: Out<'a, T>) -> Result<&'a mut MaybeUninit<T>> {
    out.ok_or_else(|| invalid!("a pointer to a result is null"))
}

/// A string of C.
///
/// # Safety
/// `text` is null or points to a string that ends with NUL.
pub(crate) unsafe fn text<'a>(text: *const c_char) -> Result<&'a CStr> {
    if text.is_null() {
        return Err(invalid!("a string is null"));
    }
    // SAFETY: it isn't null, so it is a string by the caller's promise.
    Ok(unsafe { CStr::from_ptr(text) })
}

/// Elements of an array of C; none when there are to be none.
///
/// # Safety
/// `from` is null or points to `count` elements that stay unchanged during the call.
pub(crate) unsafe fn array<'a, T>(from: *const T, count: usize) -> Result<&'a [T]> {
    match (from.is_null(), count) {
        (_, 0) => Ok(&[]),
        (true, _) => Err(invalid!("an array of {count} elements is null")),
        // SAFETY: `from` isn't null and points to `count` elements by the caller's promise.
        (false, _) => Ok(unsafe { std::slice::from_raw_parts(from, count) }),
    }
}

/// Writes elements to an array of C, as `cuGraphGetNodes` does: `*count` elements, null where there are no more, and
/// `*count` becomes how many there were. Without an array only the count is written.
///
/// # Safety
/// `into` is null or has room for `*count` elements, and `count` is null or valid.
pub(crate) unsafe fn fill(into: *mut Handle, room: usize, from: &[Handle]) {
    if into.is_null() {
        return;
    }
    for at in 0..room {
        // SAFETY: `at` is below `room`, for which there is room by the caller's promise.
        unsafe { into.add(at).write(from.get(at).copied().unwrap_or(0)) };
    }
}

/// A range of host memory that a copy reads or writes later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HostRange {
    address: Handle,
    bytes: usize,
}

impl HostRange {
    /// A range that a caller of the API vouches for.
    ///
    /// # Safety
    /// `address` is null or points to `bytes` bytes that stay valid, and that nothing else accesses, until the copy
    /// that it is for has run.
    pub(crate) unsafe fn new(address: *mut c_void, bytes: usize) -> Result<Self> {
        if address.is_null() && bytes > 0 {
            return Err(invalid!("host memory of {bytes} bytes is null"));
        }
        Ok(Self { address: address.expose_provenance(), bytes })
    }

    /// Its first address.
    pub(crate) fn address(&self) -> Handle {
        self.address
    }

    /// Its size in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// A copy of what it holds.
    pub(crate) fn read(&self) -> Result<Vec<u8>> {
        let mut copy = buffer(self.bytes)?;
        // SAFETY: 1. the range is valid by the promise of `new`; 2. `copy` has as many bytes and is new.
        unsafe {
            std::ptr::copy_nonoverlapping(
                std::ptr::with_exposed_provenance::<u8>(self.address),
                copy.as_mut_ptr(),
                if self.address == 0 { 0 } else { self.bytes },
            );
        }
        Ok(copy)
    }

    /// Overwrites it with as many bytes.
    pub(crate) fn write(&self, from: &[u8]) {
        assert_eq!(from.len(), self.bytes, "the caller has read as much");
        if from.is_empty() {
            return;
        }
        // SAFETY: 1. the range isn't empty, so it is valid by the promise of `new`; 2. `from` belongs to this
        // library, so that it can't overlap.
        unsafe {
            std::ptr::copy_nonoverlapping(
                from.as_ptr(),
                std::ptr::with_exposed_provenance_mut::<u8>(self.address),
                self.bytes,
            );
        }
    }
}

/// So many zeros, or no memory.
pub(crate) fn buffer(bytes: usize) -> Result<Vec<u8>> {
    let mut buffer = Vec::new();
    buffer.try_reserve_exact(bytes).map_err(|_| Error::OutOfMemory(bytes as u64))?;
    buffer.resize(bytes, 0);
    Ok(buffer)
}

/// A host function with its argument.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HostCall {
    function: unsafe extern "C" fn(*mut c_void),
    data: Handle,
}

impl HostCall {
    /// A call that a caller of the API vouches for.
    ///
    /// # Safety
    /// `function` may be called once with `data`, from any thread, whenever the stream comes to it.
    pub(crate) unsafe fn new(function: HostFunction, data: *mut c_void) -> Result<Self> {
        let function = function.ok_or_else(|| invalid!("the host function is null"))?;
        Ok(Self { function, data: data.expose_provenance() })
    }

    /// Calls it. Functions of the API that it calls fail.
    pub(crate) fn run(&self) {
        IN_CALLBACK.set(true);
        // SAFETY: by the promise of `new`.
        unsafe { (self.function)(std::ptr::with_exposed_provenance_mut(self.data)) };
        IN_CALLBACK.set(false);
    }
}

// Signatures are those of systems with pointers of 64 bits.
const _: () = assert!(size_of::<Handle>() == size_of::<*mut c_void>() && size_of::<Handle>() == 8);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_panic_leaves_a_function() {
        assert_eq!(entry("test", || panic!("a fault of the driver itself")), Code::Unknown as i32);
        assert_eq!(entry("test", || Ok(())), Code::Success as i32);
    }

    #[test]
    fn host_ranges_read_and_write_what_they_name() {
        let mut words = [1_u16, 2, 3];
        let pointer = words.as_mut_ptr();
        // SAFETY: the array has as many bytes and nothing else accesses it.
        let range = unsafe { HostRange::new(pointer.add(1).cast(), 4) }.unwrap();
        assert_eq!(range.read().unwrap(), [2_u16.to_ne_bytes(), 3_u16.to_ne_bytes()].concat());
        range.write(&[4_u16.to_ne_bytes(), 5_u16.to_ne_bytes()].concat());
        assert_eq!(words, [1, 4, 5]);
        // SAFETY: null is allowed.
        let (none, some) =
            unsafe { (HostRange::new(std::ptr::null_mut(), 0), HostRange::new(std::ptr::null_mut(), 1)) };
        assert_eq!(none.unwrap().read().unwrap(), []);
        assert!(some.is_err());
    }
}
