//! The definitions again, in plain serial code that shares nothing with the rest of the crate: what tests compare with.
//!
//! Big integers are vectors of 32-bit limbs, the least first.

/// `round(w * 2^exponent)`, ties to even, but 1 where that is 0 and `w` is not: from the bits of `w`, by shifts.
///
/// # Panics
/// If `w` is not finite and `>= 0`, or the result has more than 127 bits.
pub fn quantize(w: f32, exponent: i32) -> u128 {
    assert!(w.is_finite() && w >= 0.0, "{w} is not a weight");
    let bits = w.to_bits() & 0x7fff_ffff;
    let (fraction, biased) = (u128::from(bits & 0x007f_ffff), (bits >> 23) as i32);
    // w = mantissa * 2^power
    let (mantissa, power) = if biased == 0 { (fraction, -149) } else { (fraction | 0x0080_0000, biased - 150) };
    if mantissa == 0 {
        return 0;
    }
    let shift = power + exponent;
    if shift >= 0 {
        assert!(shift <= 103, "too large for the oracle");
        return mantissa << shift;
    }
    let drop = -shift;
    if drop > 30 {
        return 1;
    }
    let (kept, lost, half) = (mantissa >> drop, mantissa & ((1 << drop) - 1), 1_u128 << (drop - 1));
    let rounded = if lost > half || (lost == half && kept % 2 == 1) { kept + 1 } else { kept };
    rounded.max(1)
}

/// Inclusive sums of the quantized weights.
pub fn prefix_sums(weights: &[f32], exponent: i32) -> Vec<u128> {
    let mut sums = Vec::new();
    let mut sum = 0;
    for &w in weights {
        sum += quantize(w, exponent);
        sums.push(sum);
    }
    sums
}

/// The first item whose inclusive sum is above `threshold`, one by one.
pub fn find(sums: &[u128], threshold: u128) -> Option<usize> {
    sums.iter().position(|&s| s > threshold)
}

/// `part / total` rounded to nearest, ties to even, by long division bit by bit.
pub fn ratio(part: u64, total: u64) -> f32 {
    assert!(part <= total && total > 0);
    if part == 0 {
        return 0.0;
    }
    let (mut rest, total) = (u128::from(part), u128::from(total));
    let mut power = 0;
    while rest < total {
        rest *= 2;
        power -= 1;
    }
    // 1 <= rest / total < 2: 24 binary digits, then what is left decides.
    let mut digits = 0_u32;
    for _ in 0..24 {
        digits *= 2;
        if rest >= total {
            digits += 1;
            rest -= total;
        }
        rest *= 2;
    }
    // rest / total is now twice the fraction of the last digit that was dropped.
    if rest > total || (rest == total && digits % 2 == 1) {
        digits += 1;
    }
    (f64::from(digits) * 2_f64.powi(power - 23)) as f32
}

fn multiply(a: &[u32], b: &[u32]) -> Vec<u32> {
    let mut product = vec![0_u32; a.len() + b.len()];
    for (i, &x) in a.iter().enumerate() {
        let mut carry = 0;
        for (j, &y) in b.iter().enumerate() {
            let t = u64::from(x) * u64::from(y) + u64::from(product[i + j]) + carry;
            product[i + j] = t as u32;
            carry = t >> 32;
        }
        product[i + b.len()] = carry as u32;
    }
    product
}

fn add(a: &[u32], b: &[u32]) -> Vec<u32> {
    let mut sum = Vec::new();
    let mut carry = 0;
    for i in 0..a.len().max(b.len()) + 1 {
        let limb = |v: &[u32]| u64::from(v.get(i).copied().unwrap_or(0));
        let t = limb(a) + limb(b) + carry;
        sum.push(t as u32);
        carry = t >> 32;
    }
    sum
}

fn divide(a: &[u32], by: u32) -> Vec<u32> {
    let mut quotient = vec![0; a.len()];
    let mut rest = 0_u64;
    for (q, &limb) in quotient.iter_mut().zip(a).rev() {
        let t = rest << 32 | u64::from(limb);
        *q = (t / u64::from(by)) as u32;
        rest = t % u64::from(by);
    }
    quotient
}

/// `floor((stratum + r / 2^64) * total / strata)` for the random integer r of the first two words, the least first.
///
/// Stratum 0 of 1 is an independent draw.
pub fn threshold(words: [u32; 4], stratum: u32, strata: u32, total: u64) -> u64 {
    let position = add(&[0, 0, stratum], &words[..2]);
    let scaled = divide(&multiply(&position, &[total as u32, (total >> 32) as u32]), strata);
    u64::from(scaled[3]) << 32 | u64::from(scaled[2])
}
