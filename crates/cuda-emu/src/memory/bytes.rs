//! Words of memory by their type.

use super::region::Region;

/// A word of 1, 2, 4 or 8 bytes.
pub(crate) trait Word: Copy {
    const BYTES: u64;
    /// From the low bytes.
    fn from_u64(value: u64) -> Self;
    fn zero_extended(self) -> u64;
    fn sign_extended(self) -> u64;
    /// From a slice that reaches far enough.
    fn read(bytes: &[u8], at: usize) -> Self;
    fn write(self, bytes: &mut [u8], at: usize);
    fn load(region: &Region, at: u64) -> Self;
    fn store(self, region: &Region, at: u64);
}

macro_rules! word {
    ($($t:ty, $signed:ty, $atomic:ident;)*) => {$(
        impl Word for $t {
            const BYTES: u64 = size_of::<$t>() as u64;
            #[inline(always)]
            fn from_u64(value: u64) -> Self {
                value as $t
            }
            #[inline(always)]
            fn zero_extended(self) -> u64 {
                self.into()
            }
            #[inline(always)]
            fn sign_extended(self) -> u64 {
                self as $signed as i64 as u64
            }
            #[inline(always)]
            fn read(bytes: &[u8], at: usize) -> Self {
                let word = &bytes[at..at + size_of::<$t>()];
                <$t>::from_le_bytes(word.try_into().expect("as long as the word"))
            }
            #[inline(always)]
            fn write(self, bytes: &mut [u8], at: usize) {
                bytes[at..at + size_of::<$t>()].copy_from_slice(&self.to_le_bytes());
            }
            #[inline(always)]
            fn load(region: &Region, at: u64) -> Self {
                <$t>::from_le(region.$atomic(at).load(std::sync::atomic::Ordering::Relaxed))
            }
            #[inline(always)]
            fn store(self, region: &Region, at: u64) {
                region.$atomic(at).store(self.to_le(), std::sync::atomic::Ordering::Relaxed);
            }
        }
    )*};
}

word! {
    u8, i8, atomic_u8;
    u16, i16, atomic_u16;
    u32, i32, atomic_u32;
    u64, i64, atomic_u64;
}
