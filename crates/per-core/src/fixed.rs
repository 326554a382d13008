//! Interim stand-in for `arith::fixed`.

/// Power-of-two scale of the fixed point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scale {
    exponent: i32,
}

impl Scale {
    /// The scale for `count` weights of which the largest is `largest`.
    pub fn new(largest: f32, count: usize) -> Self {
        if largest == 0.0 {
            return Self { exponent: 0 };
        }
        // largest < 2^e
        let wide = f64::from(largest).to_bits();
        let e = ((wide >> 52) & 0x7ff) as i32 - 1022;
        let room = (63 - (usize::BITS - count.leading_zeros()) as i32).min(50);
        Self { exponent: room - e }
    }
    /// log2 of the factor.
    pub fn exponent(self) -> i32 {
        self.exponent
    }
    /// The factor.
    #[inline(always)]
    pub fn factor(self) -> f64 {
        f64::from_bits(((1023 + self.exponent) as u64) << 52)
    }
    /// `round(w * 2^S)`, ties to even, never zero for a weight that is not.
    #[inline(always)]
    pub fn quantize(self, w: f32) -> u64 {
        let x = f64::from(w) * self.factor();
        let x = if x > 0.0 && x < 1.0 { 1.0 } else { x };
        (x + 4_503_599_627_370_496.0).to_bits() - 0x4330_0000_0000_0000
    }
}
