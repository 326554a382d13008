//! Every function of arith on the device.

use arith::fixed::{self, Scale};
use half::bf16;
use kernels_tests::{Arg, Bench, assert_bits};

type Function = fn(f32) -> f32;

/// All exponents and signs, special values, and the ends of the functions' domains.
fn inputs() -> Vec<f32> {
    // A prime stride through all bit patterns.
    let mut x: Vec<_> = (0..u32::MAX).step_by(261_977).map(f32::from_bits).collect();
    x.extend([0.0, -0.0, 1.0, -1.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, f32::MIN_POSITIVE, f32::MAX]);
    x.extend([f32::from_bits(1), 88.722_84, -87.336_55, -103.97, 104.0, -104.5, 0.5, -0.5]);
    x
}

#[test]
fn functions_of_one_argument() {
    let bench = Bench::new("map");
    let x = inputs();
    let functions: [(&str, Function); 10] = [
        ("exp_f32", arith::exp),
        ("ln_f32", arith::ln),
        ("ln_1p_f32", arith::ln_1p),
        ("sigmoid_f32", arith::sigmoid),
        ("sigmoid_complement_f32", |x| arith::sigmoid_pair(x).1),
        ("softplus_f32", arith::softplus),
        ("tanh_f32", arith::tanh),
        ("sin_f32", arith::sin),
        ("cos_f32", arith::cos),
        ("sqrt_f32", arith::sqrt),
    ];
    let device_x = bench.buffer(&x);
    for (kernel, f) in functions {
        let out = bench.room::<f32>(x.len());
        bench.run(kernel, x.len(), 256, &[(&device_x).into(), (&out).into(), Arg::U32(x.len() as u32)]);
        assert_bits(kernel, &bench.read(&out), &x.iter().map(|&x| f(x)).collect::<Vec<_>>());
    }
}

#[test]
fn functions_of_more_arguments() {
    let bench = Bench::new("map");
    let x = inputs();
    let n = x.len();
    // Others beside them, of all kinds.
    let y: Vec<_> = (0..n).map(|i| x[i * 7_919 % n]).collect();
    let z: Vec<_> = (0..n).map(|i| x[i * 104_729 % n]).collect();
    let exponents: Vec<_> = (0..n).map(|i| [0.6, -0.4, 0.0, 1.0, 2.5, f32::NAN][i % 6]).collect();
    let [dx, dy, dz, de] = [&x, &y, &z, &exponents].map(|values| bench.buffer(values));
    let run = |kernel: &str, inputs: &[Arg], expected: &dyn Fn(usize) -> f32| {
        let out = bench.room::<f32>(n);
        let args = [inputs, &[(&out).into(), Arg::U32(n as u32)]].concat();
        bench.run(kernel, n, 128, &args);
        assert_bits(kernel, &bench.read(&out), &(0..n).map(expected).collect::<Vec<_>>());
    };
    run("powf_f32", &[(&dx).into(), (&de).into()], &|i| arith::powf(x[i], exponents[i]));
    run("powf_f32", &[(&dx).into(), (&dy).into()], &|i| arith::powf(x[i], y[i]));
    run("div_f32", &[(&dx).into(), (&dy).into()], &|i| x[i] / y[i]);
    run("fma_f32", &[(&dx).into(), (&dy).into(), (&dz).into()], &|i| arith::fma(x[i], y[i], z[i]));
}

#[test]
fn formats() {
    let bench = Bench::new("map");
    let x = inputs();
    let count = Arg::U32(x.len() as u32);
    let (from, short, back) = (bench.buffer(&x), bench.room::<bf16>(x.len()), bench.room::<f32>(x.len()));
    bench.run("to_bf16", x.len(), 256, &[(&from).into(), (&short).into(), count]);
    bench.run("from_bf16", x.len(), 256, &[(&short).into(), (&back).into(), count]);
    let expected: Vec<_> = x.iter().map(|&x| arith::bf16::from_f32(x)).collect();
    assert_eq!(bytemuck::cast_slice::<_, u16>(&bench.read(&short)), bytemuck::cast_slice::<_, u16>(&expected));
    assert_bits("from_bf16", &bench.read(&back), &expected.iter().map(|&x| x.to_f32()).collect::<Vec<_>>());
}

#[test]
fn fixed_point() {
    let bench = Bench::new("map");
    for (largest, leaves) in [(1.0, 1 << 20), (f32::MAX, 3), (f32::from_bits(5), 1000), (0.3, 1), (0.0, 17)] {
        let scale = Scale::new(largest, leaves as usize).unwrap();
        let weights: Vec<_> = inputs().into_iter().filter(|&w| scale.fits(w)).collect();
        assert!(weights.len() > 3);
        let n = weights.len();
        let more = [Arg::F32(largest), Arg::U32(leaves), Arg::U32(n as u32)];
        let (from, q, back) = (bench.buffer(&weights), bench.room::<u64>(n), bench.room::<f32>(n));
        bench.run("quantize_f32", n, 64, &[&[(&from).into(), (&q).into()], &more[..]].concat());
        let expected: Vec<_> = weights.iter().map(|&w| scale.quantize(w)).collect();
        assert_eq!(bench.read(&q), expected);
        bench.run("dequantize_f32", n, 64, &[&[(&q).into(), (&back).into()], &more[..]].concat());
        let expected: Vec<_> = expected.iter().map(|&q| fixed::to_f32(q, scale)).collect();
        assert_bits("dequantize_f32", &bench.read(&back), &expected);
    }
    let words: Vec<_> = (0..1000_u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).chain([0, u64::MAX]).collect();
    let from = bench.buffer(&words);
    for total in [0, 1, 17, 1 << 62, u64::MAX] {
        let out = bench.room::<u64>(words.len());
        let args = [(&from).into(), (&out).into(), Arg::U64(total), Arg::U32(words.len() as u32)];
        bench.run("bounded_u64", words.len(), 32, &args);
        assert_eq!(bench.read(&out), words.iter().map(|&word| fixed::bounded(word, total)).collect::<Vec<_>>());
    }
}
