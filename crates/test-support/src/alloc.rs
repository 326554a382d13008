//! A global allocator that counts, for tests of what allocates nothing.
//!
//! The counter is the process's: such a test stands in a file of its own. Only the harness isn't counted, which waits for the
//! test on the main thread and allocates at times of its own (known on Linux; elsewhere it is counted too).

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);
/// Whether the main thread is counted: if it has ever asked, it runs the test itself.
static MAIN_COUNTS: AtomicBool = AtomicBool::new(false);

fn is_main_thread() -> bool {
    #[cfg(target_os = "linux")]
    // SAFETY: both have no conditions and allocate nothing.
    return unsafe { libc::syscall(libc::SYS_gettid) == libc::c_long::from(libc::getpid()) };
    #[cfg(not(target_os = "linux"))]
    false
}

fn count() {
    if MAIN_COUNTS.load(Ordering::SeqCst) || !is_main_thread() {
        ALLOCATIONS.fetch_add(1, Ordering::SeqCst);
    }
}

/// The system's allocator, counted: `#[global_allocator] static ALLOCATOR: Counting = Counting;`.
#[derive(Clone, Copy, Debug)]
pub struct Counting;

// SAFETY: every call is handed on to the system's allocator as it is.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`; `ptr` came from `alloc` or `realloc` here.
        unsafe { System.dealloc(ptr, layout) }
    }

    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: the caller keeps the contract of `realloc`; `ptr` came from `alloc` or `realloc` here.
        unsafe { System.realloc(ptr, layout, size) }
    }
}

/// Allocations and reallocations of all threads so far, but for the harness's; 0 for ever unless [`Counting`] is the global
/// allocator.
pub fn allocations() -> usize {
    if is_main_thread() {
        MAIN_COUNTS.store(true, Ordering::SeqCst);
    }
    ALLOCATIONS.load(Ordering::SeqCst)
}

/// Allocations and reallocations, of all threads but the harness's, while `work` runs.
pub fn allocations_of(work: impl FnOnce()) -> usize {
    let before = allocations();
    work();
    allocations() - before
}
