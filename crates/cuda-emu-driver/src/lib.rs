//! The CUDA driver API on emulated devices: a `libcuda.so` for machines without a GPU, which also finds what a GPU
//! lets pass.
//!
//! Programs that are linked to `libcuda.so.1`, such as those that use `cust`, run unchanged:
//!
//! ```text
//! cargo build --release -p lockstep-cuda-emu-driver
//! mkdir -p cuda/lib64                             # where cust looks: lib64 below CUDA_LIBRARY_PATH
//! cp target/release/libcuda.so cuda/lib64
//! ln -s libcuda.so cuda/lib64/libcuda.so.1        # the name that programs ask for
//! CUDA_LIBRARY_PATH=cuda cargo build              # the program, with an absolute path if it lives elsewhere
//! LD_LIBRARY_PATH=cuda/lib64 ./program
//! ```
//!
//! | Variable | Meaning |
//! |---|---|
//! | `LOCKSTEP_EMU_DEVICES` | how many devices there are, 1 (default) to 8; none can access the memory of another but by copies |
//! | `LOCKSTEP_EMU_CHECKS` | `all` (default), `none`, or some of `races`, `uninitialised`, with commas |
//! | `LOCKSTEP_EMU_SEED` | a number that decides the order of blocks and warps |
//! | `LOCKSTEP_EMU_STEPS` | most instructions of a warp: a kernel that spins fails instead of hanging |
//! | `LOCKSTEP_EMU_ASYNC` | `1`: work of streams waits until something synchronizes |
//! | `LOCKSTEP_EMU_COUNTERS` | `launches`: a table of counters on stderr after each launch; `kernels`: one for each kernel, over all its launches, when a context ends; `none` (default) |
//! | `LOCKSTEP_EMU_CHAINS` | the longest chain of instructions that need each other, among the counters: `needs`, in instructions; `cycles`, of a rough GPU; `none` (default) |
//!
//! # Layers
//!
//! `api` has the `extern "C"` functions: each calls `entry`, which stops panics and turns errors into codes. `raw`
//! turns what C hands over into checked values. `core` is safe Rust and knows nothing of C, but for the addresses of
//! host memory that a copy names and for host functions.
//!
//! Handles are numbers in a registry and never dereferenced, so that a handle that is freed or of another kind is
//! an error and no undefined behaviour.
//!
//! # Differences to a GPU
//!
//! A fault is reported by the call that ran the kernel (as with `CUDA_LAUNCH_BLOCKING=1`), on stderr with line, block
//! and thread, and sticks to the context. Kernels can't access host memory: there is no managed memory, and pinned
//! memory isn't mapped. Registers don't limit occupancy. Textures, surfaces, arrays, external memory and the linker
//! aren't supported. A capture covers one stream; events in it aren't supported. Functions that aren't listed in `api`
//! don't exist, so that linking fails instead of a run.

pub mod api;
mod core;
mod error;
mod raw;

pub use error::Code;
