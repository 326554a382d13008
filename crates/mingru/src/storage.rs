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
        f32::from_bits(u32::from(self.to_bits()) << 16)
    }
    #[inline(always)]
    fn store(value: f32) -> Self {
        let bits = value.to_bits();
        // Adding just under half a unit of the kept part, plus its last bit, carries exactly when rounding up is right.
        let rounded = (bits.wrapping_add(0x7FFF + ((bits >> 16) & 1))) >> 16;
        let quiet = (bits >> 16) | 0x40;
        // The shift by 16 leaves 16 bits.
        Self::from_bits(if value.is_nan() { quiet } else { rounded } as u16)
    }
}
