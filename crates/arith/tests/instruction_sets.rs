//! AVX-512, AVX2 and the scalar copy give the same bits.

use arith::random::Stream;
use arith::simd::{Isa, Kernel};
use arith::slice;
use half::bf16;

type Map = fn(Isa, &[f32], &mut [f32]) -> Result<(), slice::LengthMismatch>;
type One = fn(f32) -> f32;

const MAPS: &[(&str, Map, One)] = &[
    ("exp", slice::exp_with, arith::exp),
    ("ln", slice::ln_with, arith::ln),
    ("ln_1p", slice::ln_1p_with, arith::ln_1p),
    ("sigmoid", slice::sigmoid_with, arith::sigmoid),
    ("softplus", slice::softplus_with, arith::softplus),
    ("tanh", slice::tanh_with, arith::tanh),
    ("sin", slice::sin_with, arith::sin),
    ("cos", slice::cos_with, arith::cos),
    ("x^0.6", |isa, x, y| slice::powf_with(isa, x, 0.6, y), |x| arith::powf(x, 0.6)),
    ("x^-3.7", |isa, x, y| slice::powf_with(isa, x, -3.7, y), |x| arith::powf(x, -3.7)),
];

fn available() -> Vec<Isa> {
    [Isa::Scalar, Isa::Avx2, Isa::Avx512].into_iter().filter(|isa| isa.is_available()).collect()
}

/// Edges, a stride of all bit patterns, and random values of moderate size.
fn arguments() -> Vec<f32> {
    let mut x: Vec<f32> =
        vec![0.0, 0.5, 1.0, 2.0, 17.0, 88.0, 88.72284, 89.0, 87.33655, 103.97, 104.0, 8192.0, 1048576.0];
    x.extend([f32::MAX, f32::INFINITY, f32::MIN_POSITIVE, f32::EPSILON, f32::NAN]);
    x.extend(
        [1, 2, 3, 0x7f_fffe, 0x7f_ffff, 0x80_0000, 0x80_0001, 0x3f35_04f2, 0x3f35_04f3, 0x3f7f_ffff]
            .map(f32::from_bits),
    );
    for i in 0..x.len() {
        let (below, above) = (x[i].to_bits().wrapping_sub(1), x[i].to_bits().wrapping_add(1));
        x.extend([f32::from_bits(below), f32::from_bits(above)]);
    }
    x.extend(x.clone().into_iter().map(|x| -x));
    x.extend((0..=u32::MAX).step_by(65_521).map(f32::from_bits));
    let stream = Stream::new(1, 0);
    x.extend((0..50_000).map(|i| stream.normal(i) * 10.0));
    x
}

#[track_caller]
fn assert_same(name: &str, isa: Isa, i: usize, x: f32, got: f32, want: f32) {
    let equal = got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan();
    assert!(equal, "{name} {isa:?} at [{i}] = {x:e}: {got:e}, not {want:e}");
}

#[test]
fn maps() {
    let x = arguments();
    let mut y = vec![0.0; x.len()];
    for &(name, map, one) in MAPS {
        for isa in available() {
            // Offsets and lengths with tails of every kind.
            for (start, len) in [(0, x.len()), (1, 1000), (3, 77), (5, 17), (7, 16), (2, 15), (0, 1), (0, 0)] {
                let (x, y) = (&x[start..start + len], &mut y[..len]);
                y.fill(-7.0);
                map(isa, x, y).unwrap();
                for (i, (&x, &y)) in x.iter().zip(&*y).enumerate() {
                    assert_same(name, isa, i, x, y, one(x));
                }
            }
        }
    }
}

#[test]
fn storage_in_bf16() {
    let x = arguments();
    for isa in available() {
        let mut narrow = vec![bf16::ZERO; x.len()];
        let mut wide = vec![0.0; x.len()];
        slice::to_bf16_with(isa, &x, &mut narrow).unwrap();
        slice::from_bf16_with(isa, &narrow, &mut wide).unwrap();
        for (i, &x) in x.iter().enumerate() {
            // The half crate has its own conversion.
            let want = bf16::from_f32(x);
            assert!(narrow[i].to_bits() == want.to_bits() || x.is_nan() && narrow[i].is_nan(), "{isa:?} {x:e}");
            assert_same("from_bf16", isa, i, x, wide[i], want.to_f32());
        }
    }
}

#[test]
fn fills_and_sums() {
    let stream = Stream::new(7, 3);
    let x: Vec<f32> = (0..5000).map(|i| stream.normal(i)).collect();
    let y: Vec<f32> = (0..5000).map(|i| stream.uniform(i)).collect();
    for isa in available() {
        for (first, len) in [(0, 0), (0, 1), (1, 2), (2, 5), (3, 4), (5, 1000), (4, 64), ((1 << 34) - 3, 9)] {
            let (mut words, mut wide) = (vec![0; len], vec![0; len]);
            let mut out = vec![0.0; len];
            stream.fill_words_with(isa, first, &mut words);
            assert!((first..).zip(&words).all(|(i, &w)| w == stream.word(i)), "{isa:?}");
            stream.fill_double_words_with(isa, first, &mut wide);
            assert!((first..).zip(&wide).all(|(i, &w)| w == stream.double_word(i)), "{isa:?}");
            stream.fill_bounded_with(isa, first, 1000, &mut wide);
            assert!((first..).zip(&wide).all(|(i, &w)| w == stream.bounded(i, 1000)), "{isa:?}");
            stream.fill_uniform_with(isa, first, &mut out);
            assert!((first..).zip(&out).all(|(i, &u)| u == stream.uniform(i)), "{isa:?}");
            stream.fill_uniform_positive_with(isa, first, &mut out);
            assert!((first..).zip(&out).all(|(i, &u)| u == stream.uniform_positive(i)), "{isa:?}");
            stream.fill_normal_with(isa, first, &mut out);
            assert!((first..).zip(&out).all(|(i, &n)| n.to_bits() == stream.normal(i).to_bits()), "{isa:?}");
        }
        for len in [0, 1, 31, 32, 33, 1023, 1024, 1025, 2047, 2048, 3000, 5000] {
            let (x, y) = (&x[..len], &y[..len]);
            let scalar = Isa::Scalar;
            assert_eq!(arith::sum::sum_with(isa, x).to_bits(), arith::sum::sum_with(scalar, x).to_bits());
            assert_eq!(arith::sum::dot_with(isa, x, y).to_bits(), arith::sum::dot_with(scalar, x, y).to_bits());
            assert_eq!(
                arith::sum::sum_of_squares_with(isa, x).to_bits(),
                arith::sum::sum_of_squares_with(scalar, x).to_bits()
            );
        }
    }
}

#[test]
fn another_length_is_an_error_and_writes_nothing() {
    let mut y = [9.0; 3];
    let error = slice::exp(&[1.0, 2.0], &mut y).unwrap_err();
    assert_eq!((error.operation, error.expected, error.got), ("exp", 2, 3));
    assert!(slice::powf(&[1.0; 4], 2.0, &mut y).is_err());
    assert_eq!(y, [9.0; 3]);
    assert_eq!(error.to_string(), "exp: a slice of 3 elements beside an input of 2");
}

#[test]
fn every_instruction_set_can_be_asked_for() {
    struct Which;
    impl Kernel for Which {
        type Output = u32;
        #[inline(always)]
        fn run(self) -> u32 {
            41
        }
    }
    for isa in [Isa::Scalar, Isa::Avx2, Isa::Avx512] {
        assert_eq!(isa.run(Which), 41);
    }
    assert!(Isa::Scalar.is_available());
    assert!(Isa::detect().is_available());
}
