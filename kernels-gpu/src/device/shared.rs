//! Memory of a block: arrays that all of its threads see.

use core::marker::PhantomData;

/// An array in shared memory, declared with [`shared_array!`](crate::shared_array).
pub struct SharedArray<T> {
    /// In the window of shared memory.
    address: u32,
    elements: PhantomData<*mut T>,
}

impl<T> Clone for SharedArray<T> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for SharedArray<T> {}

impl<T> SharedArray<T> {
    #[doc(hidden)]
    #[inline(always)]
    pub fn at(address: u32) -> Self {
        Self { address, elements: PhantomData }
    }

    /// The array from element `i` on.
    #[inline(always)]
    pub fn from(self, i: u32) -> Self {
        Self::at(self.address.wrapping_add(i.wrapping_mul(size_of::<T>() as u32)))
    }
}

macro_rules! elements {
    ($($kind:ty, $register:ident, $load:literal, $store:literal;)*) => {$(
        impl SharedArray<$kind> {
            #[doc = concat!("Element `i`: `", $load, "`.")]
            ///
            /// # Safety
            /// There is such an element, and no thread writes it between the same two barriers.
            #[inline(always)]
            pub unsafe fn read(self, i: u32) -> $kind {
                let value;
                // SAFETY: the caller's. Not `pure`: it must stay between its barriers.
                unsafe {
                    core::arch::asm!(
                        concat!($load, " {}, [{}];"),
                        out($register) value,
                        in(reg32) self.address + i * size_of::<$kind>() as u32,
                        options(nostack, preserves_flags),
                    );
                }
                value
            }

            #[doc = concat!("Sets element `i`: `", $store, "`.")]
            ///
            /// # Safety
            /// There is such an element, and no other thread accesses it between the same two barriers.
            #[inline(always)]
            pub unsafe fn write(self, i: u32, value: $kind) {
                // SAFETY: the caller's.
                unsafe {
                    core::arch::asm!(
                        concat!($store, " [{}], {};"),
                        in(reg32) self.address + i * size_of::<$kind>() as u32,
                        in($register) value,
                        options(nostack, preserves_flags),
                    );
                }
            }
        }
    )*};
}

elements! {
    u32, reg32, "ld.shared.u32", "st.shared.u32";
    f32, reg32, "ld.shared.f32", "st.shared.f32";
    u64, reg64, "ld.shared.u64", "st.shared.u64";
}

impl SharedArray<u32> {
    /// Adds to element `i`, wrapping: `red.shared.add.u32`.
    ///
    /// # Safety
    /// There is such an element, and between the same two barriers all threads do only this to it.
    #[inline(always)]
    pub unsafe fn add(self, i: u32, value: u32) {
        // SAFETY: the caller's.
        unsafe {
            core::arch::asm!(
                "red.shared.add.u32 [{}], {};",
                in(reg32) self.address + i * size_of::<u32>() as u32,
                in(reg32) value,
                options(nostack, preserves_flags),
            );
        }
    }
}

impl SharedArray<f32> {
    /// Elements `i..i + 4`: `ld.shared.v4.f32`.
    ///
    /// # Safety
    /// As [`read`](Self::read) of each of them, and the first is aligned to 16 bytes.
    #[inline(always)]
    pub unsafe fn read4(self, i: u32) -> [f32; 4] {
        let (a, b, c, d);
        // SAFETY: the caller's.
        unsafe {
            core::arch::asm!(
                "ld.shared.v4.f32 {{{}, {}, {}, {}}}, [{}];",
                out(reg32) a,
                out(reg32) b,
                out(reg32) c,
                out(reg32) d,
                in(reg32) self.address + i * size_of::<f32>() as u32,
                options(nostack, preserves_flags),
            );
        }
        [a, b, c, d]
    }

    /// Sets elements `i..i + 4`: `st.shared.v4.f32`.
    ///
    /// # Safety
    /// As [`write`](Self::write) of each of them, and the first is aligned to 16 bytes.
    #[inline(always)]
    pub unsafe fn write4(self, i: u32, [a, b, c, d]: [f32; 4]) {
        // SAFETY: the caller's.
        unsafe {
            core::arch::asm!(
                "st.shared.v4.f32 [{}], {{{}, {}, {}, {}}};",
                in(reg32) self.address + i * size_of::<f32>() as u32,
                in(reg32) a,
                in(reg32) b,
                in(reg32) c,
                in(reg32) d,
                options(nostack, preserves_flags),
            );
        }
    }
}

/// Declares an array in shared memory: `shared_array!(name, symbol: T; count)` defines a function `name` that returns the
/// [`SharedArray`](crate::device::shared::SharedArray). `symbol` is its name in the PTX, which no other array has. Its
/// elements have no values at first.
#[macro_export]
macro_rules! shared_array {
    ($(#[$doc:meta])* $name:ident, $symbol:literal: $kind:ty; $count:expr) => {
        core::arch::global_asm!(
            concat!(".shared .align 16 .b8 ", $symbol, "[{}];"),
            const size_of::<$kind>() * $count,
        );
        $crate::shared_array!(@function $(#[$doc])* $name, $symbol: $kind);
    };
    (@function $(#[$doc:meta])* $name:ident, $symbol:literal: $kind:ty) => {
        $(#[$doc])*
        #[inline(always)]
        fn $name() -> $crate::device::shared::SharedArray<$kind> {
            let address;
            // SAFETY: it tells where the array is.
            unsafe {
                core::arch::asm!(
                    concat!("mov.u32 {}, ", $symbol, ";"),
                    out(reg32) address,
                    options(pure, nomem, nostack, preserves_flags),
                );
            }
            $crate::device::shared::SharedArray::at(address)
        }
    };
}

/// Declares the shared memory that a launch adds: `dynamic_shared_array!(name, symbol: T)`. As
/// [`shared_array!`](crate::shared_array), but the launch says how many elements there are.
#[macro_export]
macro_rules! dynamic_shared_array {
    ($(#[$doc:meta])* $name:ident, $symbol:literal: $kind:ty) => {
        core::arch::global_asm!(concat!(".extern .shared .align 16 .b8 ", $symbol, "[];"));
        $crate::shared_array!(@function $(#[$doc])* $name, $symbol: $kind);
    };
}
