//! Element types of sequences in memory; arithmetic is always in f32.
use half::bf16;

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for half::bf16 {}
}

/// How a sequence is stored: `f32` or [`bf16`]. Sealed.
pub trait Storage: sealed::Sealed + Copy + Default + PartialEq + core::fmt::Debug + Send + Sync + 'static {
    /// The exact value.
    fn load(self) -> f32;
    /// Rounds to nearest, ties to even; a NaN stays a NaN.
    fn store(value: f32) -> Self;
}

impl Storage for f32 {
    #[inline(always)]
    fn load(self) -> f32 {
        self
    }
    #[inline(always)]
    fn store(value: f32) -> Self {
        value
    }
}

impl Storage for bf16 {
    #[inline(always)]
    fn load(self) -> f32 {
        arith::bf16::to_f32(self)
    }
    #[inline(always)]
    fn store(value: f32) -> Self {
        arith::bf16::from_f32(value)
    }
}
