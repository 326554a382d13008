//! Runs PTX on CPUs: a device for machines without a GPU, which also sees what a GPU doesn't tell.
//!
//! ```
//! use cuda_emu::{Device, Grid, Module, Options};
//!
//! let module = Module::load(
//!     ".version 8.0 .target sm_75 .address_size 64
//!      .visible .entry double(.param .u64 data)
//!      {
//!          .reg .b32 %r<3>;
//!          .reg .b64 %rd<4>;
//!          ld.param.u64 %rd1, [data];
//!          mov.u32 %r1, %tid.x;
//!          mul.wide.u32 %rd2, %r1, 4;
//!          add.s64 %rd3, %rd1, %rd2;
//!          ld.global.u32 %r2, [%rd3];
//!          add.s32 %r2, %r2, %r2;
//!          st.global.u32 [%rd3], %r2;
//!          ret;
//!      }",
//! )?;
//! let device = Device::new();
//! let data = device.allocate(4 * 64)?;
//! let numbers: Vec<u8> = (0..64_u32).flat_map(u32::to_le_bytes).collect();
//! device.write(data, &numbers)?;
//! let counters = device.launch(&module, "double", &Grid::linear(1, 64), &data.to_le_bytes(), &Options::default())?;
//! let mut last = [0; 4];
//! device.read(data + 4 * 63, &mut last)?;
//! assert_eq!(u32::from_le_bytes(last), 126);
//! // 64 threads are two warps, and each reads 32 words of 4 bytes: 4 sectors.
//! assert_eq!(counters.global_load_sectors, 8);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | Type | What it does |
//! |---|---|
//! | [`Module`] | PTX, parsed, checked and lowered; [`LoadError`] names the line |
//! | [`Device`] | memory, variables of modules, launches |
//! | [`Grid`], [`Options`], [`Checks`], [`Chains`] | shape of a launch, and how it is run |
//! | [`Counters`] | what a launch did: instructions, sectors, bank conflicts, ... |
//! | [`Fault`] | what went wrong, with line, block, thread, address and nearest allocation |
//!
//! A kernel's text goes through three stages: `ptx` parses it, `lower` turns names into rows of a register file and
//! basic blocks into an order in which lanes converge, `exec` runs warps of 32 lanes. `alu` has what one instruction
//! does to one lane, `lanes` makes it one for 32 of them.
//!
//! `INSTRUCTIONS.md` lists the instructions, each with its test, and what is refused.
//!
//! # How lanes part and meet
//!
//! A warp is a set of groups of lanes, each with its position. The group that is farthest behind runs, and groups that
//! meet become one. Together with the order of blocks (`lower/order.rs`) that brings lanes together as early as
//! possible. It was chosen over a stack of post-dominators because lanes may wait for each other at different places:
//! since Volta, `bar.warp.sync`, `shfl.sync` and their like are meant to be reached by lanes that have parted, and a
//! stack would wait for ever. Lanes that spin until another lane of their warp has done something don't keep it from
//! running: now and then a group that isn't the farthest behind has a turn. Blocks that wait for others (by atomic or
//! volatile accesses) let the next ones begin and take turns with them, however few threads the host has.

mod alu;
mod check;
mod count;
mod device;
mod error;
mod exec;
mod fault;
mod lanes;
mod lower;
mod memory;
mod module;
mod program;
mod ptx;
mod soft;
mod types;

pub use count::Counters;
pub use device::{Chains, Checks, Device, Grid, LaunchError, Options};
pub use error::LoadError;
pub use fault::{Fault, FaultKind, Nearest};
pub use memory::MemoryError;
pub use module::{KernelInfo, Module};
pub use types::Space;
