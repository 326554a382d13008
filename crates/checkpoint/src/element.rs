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
pub trait Element: Copy + sealed::Bytes {
    /// Its name.
    const DTYPE: Dtype;
}

mod sealed {
    pub trait Bytes: Sized {
        fn to_bytes(values: &[Self]) -> Vec<u8>;
        fn from_bytes(bytes: &[u8]) -> Vec<Self>;
    }
}

macro_rules! element {
    ($($type:ty => $dtype:ident;)*) => {$(
        impl Element for $type {
            const DTYPE: Dtype = Dtype::$dtype;
        }

        impl sealed::Bytes for $type {
            fn to_bytes(values: &[Self]) -> Vec<u8> {
                values.iter().flat_map(|v| v.to_le_bytes()).collect()
            }

            fn from_bytes(bytes: &[u8]) -> Vec<Self> {
                let (elements, _) = bytes.as_chunks();
                elements.iter().map(|&e| Self::from_le_bytes(e)).collect()
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
