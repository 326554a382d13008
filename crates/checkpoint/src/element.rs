//! Types of elements.

use std::fmt;

use half::bf16;

/// Type of a tensor's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Dtype {
    /// `half::bf16`.
    Bf16,
    /// `f32`.
    F32,
    /// `u8`.
    U8,
    /// `u32`.
    U32,
    /// `u64`.
    U64,
    /// `i32`.
    I32,
    /// `i64`.
    I64,
}

impl Dtype {
    pub(crate) const ALL: [Self; 7] = [Self::Bf16, Self::F32, Self::U8, Self::U32, Self::U64, Self::I32, Self::I64];

    /// Its name in a safetensors header.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bf16 => "BF16",
            Self::F32 => "F32",
            Self::U8 => "U8",
            Self::U32 => "U32",
            Self::U64 => "U64",
            Self::I32 => "I32",
            Self::I64 => "I64",
        }
    }

    /// Size of an element, in bytes.
    pub const fn size(self) -> usize {
        match self {
            Self::U8 => 1,
            Self::Bf16 => 2,
            Self::F32 | Self::U32 | Self::I32 => 4,
            Self::U64 | Self::I64 => 8,
        }
    }
}

impl fmt::Display for Dtype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A type that tensors are made of: bf16, f32, u8, u32, u64, i32, i64. NaN payloads survive.
pub trait Element: Copy + Default + sealed::Bytes + 'static {
    /// Its name.
    const DTYPE: Dtype;
}

mod sealed {
    pub trait Bytes: Sized {
        /// Little-endian bytes of `values`, whose number fits `bytes`.
        fn encode(values: &[Self], bytes: &mut [u8]);

        /// The inverse.
        fn decode(bytes: &[u8], values: &mut [Self]);
    }
}

macro_rules! element {
    ($($type:ty => $dtype:ident;)*) => {$(
        impl Element for $type {
            const DTYPE: Dtype = Dtype::$dtype;
        }

        impl sealed::Bytes for $type {
            fn encode(values: &[Self], bytes: &mut [u8]) {
                let (elements, _) = bytes.as_chunks_mut();
                for (element, value) in elements.iter_mut().zip(values) {
                    *element = value.to_le_bytes();
                }
            }

            fn decode(bytes: &[u8], values: &mut [Self]) {
                let (elements, _) = bytes.as_chunks();
                for (value, &element) in values.iter_mut().zip(elements) {
                    *value = Self::from_le_bytes(element);
                }
            }
        }
    )*};
}
element! {
    bf16 => Bf16;
    f32 => F32;
    u8 => U8;
    u32 => U32;
    u64 => U64;
    i32 => I32;
    i64 => I64;
}
