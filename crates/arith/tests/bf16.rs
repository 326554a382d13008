//! bf16 storage against distances in f64.

use arith::bf16::{from_f32, to_f32};
use half::bf16;

#[test]
fn every_bf16_survives_the_round_trip() {
    for bits in 0..=u16::MAX {
        let x = bf16::from_bits(bits);
        let wide = to_f32(x);
        assert_eq!(wide.is_nan(), x.is_nan());
        assert!(from_f32(wide).to_bits() == bits || x.is_nan() && from_f32(wide).is_nan());
    }
}

/// Each gap between neighbours: below, at and above the middle.
#[test]
fn nearest_ties_to_even() {
    for bits in 0..0x7f80_u16 {
        let (low, high) = (u32::from(bits) << 16, (u32::from(bits) + 1) << 16);
        for (x, want) in [
            (low + 0x7fff, bits),
            (low + 0x8000, if bits % 2 == 0 { bits } else { bits + 1 }),
            (low + 0x8001, bits + 1),
            (low + 1, bits),
            (high - 1, bits + 1),
        ] {
            assert_eq!(from_f32(f32::from_bits(x)).to_bits(), want, "{x:#x}");
            assert_eq!(from_f32(f32::from_bits(x | 0x8000_0000)).to_bits(), want | 0x8000, "{x:#x}");
        }
    }
    assert_eq!(from_f32(f32::MAX), bf16::INFINITY);
    // Every NaN, also those whose payload lies below the bits that stay.
    for x in [0x7f80_0001, 0xff80_0001, 0x7fff_ffff, 0xffff_ffff, 0x7fc0_0000] {
        assert!(from_f32(f32::from_bits(x)).is_nan());
    }
}
