//! Elementary functions.

/// `a * b + c` with a single rounding.
#[inline(always)]
pub fn fma(a: f32, b: f32, c: f32) -> f32 {
    a.mul_add(b, c)
}

macro_rules! interim {
    ($($name:ident => $body:expr;)*) => {$(
        /// Interim body.
        #[inline(always)]
        pub fn $name(x: f32) -> f32 {
            let f: fn(f32) -> f32 = $body;
            f(x)
        }
    )*};
}
interim! {
    exp => f32::exp;
    ln => f32::ln;
    ln_1p => f32::ln_1p;
    tanh => f32::tanh;
    sin => f32::sin;
    cos => f32::cos;
    softplus => |x| x.max(0.0) + (-x.abs()).exp().ln_1p();
    sigmoid => |x| sigmoid_pair(x).0;
}

/// `(sigmoid(x), sigmoid(-x))` from one exponential: the second is `1 - sigmoid(x)` without cancellation.
#[inline(always)]
pub fn sigmoid_pair(x: f32) -> (f32, f32) {
    let e = exp(-x.abs());
    let big = 1.0 / (1.0 + e);
    let small = e / (1.0 + e);
    if x >= 0.0 { (big, small) } else { (small, big) }
}

/// `x^y` for `x > 0`.
#[inline(always)]
pub fn powf(x: f32, y: f32) -> f32 {
    x.powf(y)
}
