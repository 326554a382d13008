//! Strata of the mass.

/// `floor((j * total + offset) / m)` for j < m and offset < total (or all of them 0), which is below the total.
#[inline(always)]
pub fn in_stratum(j: u32, offset: u64, total: u64, m: u32) -> u64 {
    let numerator = u128::from(j) * u128::from(total) + u128::from(offset);
    // Below 2^95. Long division by digits of 32 bits: a 128-bit division is a call.
    let m = u64::from(m.max(1));
    let high = (numerator >> 64) as u64 % m;
    let middle = high << 32 | (numerator >> 32) as u64 & 0xffff_ffff;
    let low = ((middle % m) << 32) | (numerator as u64 & 0xffff_ffff);
    ((middle / m) << 32) | (low / m)
}
