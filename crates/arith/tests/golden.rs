//! Values that are part of the contract: a change of any is a breaking change.
//!
//! The digests are the same with and without `std` (`--no-default-features` takes the software `fma` and `sqrt`), in
//! debug and release builds, and on every machine.

use arith::random::Stream;

type Function = fn(f32) -> f32;

/// FNV-1a over 32-bit words; all NaNs count as one.
fn digest(values: impl Iterator<Item = f32>) -> u64 {
    values.fold(0xcbf2_9ce4_8422_2325, |hash, x| {
        let bits = if x.is_nan() { 0x7fc0_0000 } else { x.to_bits() };
        (hash ^ u64::from(bits)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

fn stride() -> impl Iterator<Item = f32> {
    (0..=u32::MAX).step_by(20_011).map(f32::from_bits)
}

#[test]
fn elementary_functions() {
    let cases: [(&str, Function, u64); 12] = [
        ("exp", arith::exp, 0xfe17_e2fe_a72b_1062),
        ("ln", arith::ln, 0x7fde_3c68_c67e_39c6),
        ("ln_1p", arith::ln_1p, 0xa0a1_6520_a8b0_3eaa),
        ("sigmoid", arith::sigmoid, 0xcd9c_5770_28be_59eb),
        ("softplus", arith::softplus, 0x9177_0bfb_4756_3d6e),
        ("tanh", arith::tanh, 0x85e5_a239_818c_f239),
        ("sin", arith::sin, 0xd5b5_7c03_b7c0_271a),
        ("cos", arith::cos, 0xabf0_d6d2_1dcb_6c8d),
        ("sqrt", arith::sqrt, 0x7874_24cd_8537_7b7f),
        ("x^0.6", |x| arith::powf(x, 0.6), 0x6ccb_0518_e308_f4a2),
        ("x^-2.3", |x| arith::powf(x, -2.3), 0xdc68_2f3a_d431_e4e0),
        ("fma(x, x, 1/x)", |x| arith::fma(x, x, 1.0 / x), 0xc4a4_3ca2_942e_e9a4),
    ];
    let mut wrong = String::new();
    for (name, f, want) in cases {
        let got = digest(stride().map(f));
        if got != want {
            wrong += &format!("{name}: {got:#x}\n");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn draws() {
    let stream = Stream::new(1, 2);
    assert_eq!(
        [0, 1, 2, 3, 4, 5].map(|i| stream.word(i)),
        [3_878_945_999, 2_364_392_915, 1_057_429_302, 168_492_509, 3_082_076_531, 3_674_517_586]
    );
    assert_eq!(
        [0, 1, 2].map(|i| stream.double_word(i)),
        [10_154_990_248_698_053_839, 723_669_816_833_414_966, 15_781_932_863_528_943_987]
    );
    assert_eq!(
        [0, 1, 2, 3, 4, 5].map(|i| stream.uniform(i)),
        [0.903_137_45, 0.550_503_1, 0.246_201_93, 0.039_230_168, 0.717_601_84, 0.855_540_3]
    );
    assert_eq!(
        [0, 1, 2, 3, 4, 5].map(|i| stream.normal(i)),
        [-0.428_862_75, -0.140_846_22, 1.623_672_2, 0.408_527_08, 0.501_497, -0.642_013_6]
    );
    assert_eq!(
        [0, 1, 2, 3, 4, 5].map(|i| stream.bounded(i, 1_000_000)),
        [550_503, 39_230, 855_540, 54_858, 353_598, 494_605]
    );
    assert_eq!(digest((0..100_000).map(|i| stream.normal(i))), 16_211_976_265_689_905_332);
}
