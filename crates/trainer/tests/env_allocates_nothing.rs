//! Stepping allocates nothing. (A test binary of its own, for its allocator.)

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use arith::random::Stream;
use trainer::env::{CartPole, Env, RepeatPrevious, Transition, VecEnv};

struct Counting;

thread_local! {
    /// Of this thread: the test harness has others.
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: everything is passed on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller's promises are those of `System`.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above; `pointer` is from `alloc`, and so from `System`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations<E: Env>(make: impl FnMut(usize) -> E) -> (usize, usize) {
    let mut envs = VecEnv::new(8, make, |i| Stream::new(1, i as u64)).unwrap();
    let width = envs.spec().observation;
    let (mut transitions, mut last) = (vec![Transition::default(); 8], vec![0.0; 8 * width]);
    let mut episodes = 0;
    let before = ALLOCATIONS.get();
    for _ in 0..200 {
        envs.step(&[1; 8], &mut transitions, &mut last).unwrap();
        envs.observations(&mut last).unwrap();
        episodes += transitions.iter().filter(|t| t.finished.is_some()).count();
    }
    (ALLOCATIONS.get() - before, episodes)
}

#[test]
fn steps_and_resets_allocate_nothing() {
    let (count, episodes) = allocations(|_| CartPole::new());
    assert!(episodes > 100);
    assert_eq!(count, 0);
    let (count, episodes) = allocations(|_| RepeatPrevious::new(4, 3, 20).unwrap());
    assert_eq!(episodes, 80);
    assert_eq!(count, 0);
    // The counter counts.
    let before = ALLOCATIONS.get();
    drop(std::hint::black_box(vec![1_u8]));
    assert_eq!(ALLOCATIONS.get(), before + 1);
}
