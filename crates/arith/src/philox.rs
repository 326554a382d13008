//! Philox4x32-10, the counter-based generator of Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3" (SC 2011).

/// Ten rounds of Philox4x32: a bijection of the counter for each key.
#[inline(always)]
pub const fn philox4x32_10(mut key: [u32; 2], mut ctr: [u32; 4]) -> [u32; 4] {
    let mut round = 0;
    while round < 10 {
        let p0 = 0xD251_1F53_u64 * ctr[0] as u64;
        let p1 = 0xCD9E_8D57_u64 * ctr[2] as u64;
        ctr = [(p1 >> 32) as u32 ^ ctr[1] ^ key[0], p1 as u32, (p0 >> 32) as u32 ^ ctr[3] ^ key[1], p0 as u32];
        key = [key[0].wrapping_add(0x9E37_79B9), key[1].wrapping_add(0xBB67_AE85)];
        round += 1;
    }
    ctr
}
