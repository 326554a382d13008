//! A save and a load take bounded memory, whatever the size of a tensor: a few allocations, none larger than a block.

use std::alloc::{GlobalAlloc, Layout};
use std::sync::atomic::{AtomicUsize, Ordering};

use checkpoint::{Reader, Writer};
use test_support::{Counting, allocations_of};

/// Counts, and remembers the largest request, in bytes.
struct Largest;

static LARGEST: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is handed on to an allocator as it is.
unsafe impl GlobalAlloc for Largest {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LARGEST.fetch_max(layout.size(), Ordering::SeqCst);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { Counting.alloc(layout) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`; `ptr` came from `alloc` or `realloc` here.
        unsafe { Counting.dealloc(ptr, layout) }
    }

    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        LARGEST.fetch_max(size, Ordering::SeqCst);
        // SAFETY: the caller keeps the contract of `realloc`; `ptr` came from `alloc` or `realloc` here.
        unsafe { Counting.realloc(ptr, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Largest = Largest;

/// Allocations of `work`, and the size of the largest.
fn memory_of(work: impl FnOnce()) -> (usize, usize) {
    LARGEST.store(0, Ordering::SeqCst);
    let count = allocations_of(work);
    (count, LARGEST.load(Ordering::SeqCst))
}

#[test]
fn memory_does_not_grow_with_the_tensors() {
    const BLOCK: usize = 1 << 18;
    let tmp = tempfile::tempdir().unwrap();
    let path = tmp.path().join("file");
    let row = [1.5_f32; 16];
    // Rows of 64 bytes: 64 KiB and 64 MiB.
    for rows in [1 << 10, 1 << 20] {
        let (count, largest) = memory_of(|| {
            let mut file = Writer::new();
            file.put_with::<f32>("rows", &[rows, 16], |sink| (0..rows).try_for_each(|_| Ok(sink.put(&row)?))).unwrap();
            file.save_atomic(&path).unwrap();
        });
        assert!(count < 200 && largest <= BLOCK, "save of {rows} rows: {count} allocations, the largest {largest}");
        let mut sum = 0.0;
        let (count, largest) = memory_of(|| {
            let mut file = Reader::open(&path).unwrap();
            let mut pieces = file.rows::<f32>("rows", &[rows, 16]).unwrap();
            while let Some(piece) = pieces.next_piece().unwrap() {
                sum += piece.iter().map(|&x| f64::from(x)).sum::<f64>();
            }
        });
        assert!(count < 200 && largest <= BLOCK, "load of {rows} rows: {count} allocations, the largest {largest}");
        assert_eq!(sum, rows as f64 * 24.0);
    }
}
