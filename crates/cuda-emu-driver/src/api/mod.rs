//! The functions of the driver API, with the signatures of `cuda.h` on a system with 64-bit pointers: handles and
//! pointers to functions that aren't called are numbers, enumerations are `i32`, results go to [`Out`] pointers.
//!
//! Each returns the number of a [`Code`](crate::Code).

mod context;
mod device;
mod error;
mod event;
mod graph;
mod launch;
mod memory;
mod memory_async;
mod module;
mod occupancy;
mod stream;
mod unsupported;

pub use self::context::*;
pub use self::device::*;
pub use self::error::*;
pub use self::event::*;
pub use self::graph::*;
pub use self::launch::*;
pub use self::memory::*;
pub use self::memory_async::*;
pub use self::module::*;
pub use self::occupancy::*;
pub use self::stream::*;
pub use self::unsupported::*;
pub use crate::raw::{Handle, HostFunction, Out};

/// Exports functions of the API whose bodies return `Result<()>`.
macro_rules! api {
    ($($(#[$attribute:meta])* fn $name:ident($($argument:ident: $type:ty),* $(,)?) $body:block)*) => {
        $(
            $(#[$attribute])*
            ///
            /// # Safety
            /// As in the CUDA driver API: pointers are null or valid for what the function does with them, and those
            /// that work of a stream uses stay valid until it has run.
            #[unsafe(no_mangle)]
            #[allow(non_snake_case, clippy::too_many_arguments, clippy::allow_attributes)]
            pub unsafe extern "C" fn $name($($argument: $type),*) -> i32 {
                crate::raw::entry(stringify!($name), move || $body)
            }
        )*
    };
}
use api;
