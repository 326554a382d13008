//! Products of small integers, which are exact in every type.

use crate::common::{Arg, Bench};
use crate::nvcc::each_target;
use cuda_emu::Grid;

#[test]
fn products() {
    each_target("matrices", Some(include_str!("matrices.ptx")), |ptx, target| {
        let bench = Bench::load(ptx);
        let warp = Grid::linear(1, 32);
        let single = |v: f64| (v as f32).to_bits();
        // Shape, and whether `a` and `b` lie by columns.
        for (name, shape, columns) in [
            ("square", [16, 16, 16], [false, true]),
            ("tall", [32, 8, 16], [true, false]),
            ("broad", [8, 32, 16], [false, false]),
        ] {
            let case = Case::new(shape, columns);
            let [a, b] = case.factors(half).map(|f| bench.buffer(&f));
            let out = bench.buffer(&vec![0_u32; shape[0] * shape[1]]);
            bench.run(name, &warp, &[a, b, out].map(Arg::U64));
            let wanted: Vec<u32> = case.product().iter().map(|v| single(2.0 * (v + 1.0))).collect();
            assert_eq!(bench.read::<u32>(out, wanted.len()), wanted, "{name}");
        }
        let case = Case::new([16, 16, 16], [false, true]);
        let [a, b] = case.factors(half).map(|f| bench.buffer(&f));
        let out = bench.buffer(&[0_u16; 256]);
        bench.run("halves", &warp, &[a, b, out].map(Arg::U64));
        let product = case.product();
        let by_columns: Vec<u16> = (0..256).map(|i| half(product[i % 16 * 16 + i / 16])).collect();
        assert_eq!(bench.read::<u16>(out, 256), by_columns);

        let [a, b] = case.factors(|v| v as i8 as u8).map(|f| bench.buffer(&f));
        let out = bench.buffer(&[0_i32; 256]);
        bench.run("bytes", &warp, &[a, b, out].map(Arg::U64));
        assert_eq!(bench.read::<i32>(out, 256), product.iter().map(|&v| v as i32 + 5).collect::<Vec<_>>());
        if target < 80 {
            return;
        }
        let [a, b] = case.factors(|v| ((v as f32).to_bits() >> 16) as u16).map(|f| bench.buffer(&f));
        let out = bench.buffer(&[0_u32; 256]);
        bench.run("brains", &warp, &[a, b, out].map(Arg::U64));
        assert_eq!(bench.read::<u32>(out, 256), product.iter().map(|&v| single(v)).collect::<Vec<_>>());

        let case = Case::new([8, 8, 4], [false, true]);
        let [a, b] = case.factors(|v| v).map(|f| bench.buffer(&f));
        let out = bench.buffer(&[0.0_f64; 64]);
        bench.run("doubles", &warp, &[a, b, out].map(Arg::U64));
        assert_eq!(bench.read::<f64>(out, 64), case.product());
    });
}

/// Factors with different numbers everywhere.
struct Case {
    shape: [usize; 3],
    columns: [bool; 2],
}

impl Case {
    fn new(shape: [usize; 3], columns: [bool; 2]) -> Self {
        Self { shape, columns }
    }

    fn a(row: usize, column: usize) -> f64 {
        ((row * 5 + column * 3) % 7) as f64 - 3.0
    }

    fn b(row: usize, column: usize) -> f64 {
        ((row * 2 + column * 7) % 11) as f64 - 5.0
    }

    /// Both factors as they lie in memory.
    fn factors<T>(&self, encode: impl Fn(f64) -> T) -> [Vec<T>; 2] {
        let [m, n, k] = self.shape;
        let lay = |rows: usize, width: usize, by_columns: bool, f: fn(usize, usize) -> f64| {
            let place = |i: usize| if by_columns { (i % rows, i / rows) } else { (i / width, i % width) };
            (0..rows * width).map(|i| encode(f(place(i).0, place(i).1))).collect()
        };
        [lay(m, k, self.columns[0], Self::a), lay(k, n, self.columns[1], Self::b)]
    }

    fn product(&self) -> Vec<f64> {
        let [m, n, k] = self.shape;
        (0..m * n).map(|i| (0..k).map(|l| Self::a(i / n, l) * Self::b(l, i % n)).sum()).collect()
    }
}

/// Small integers in binary16.
fn half(value: f64) -> u16 {
    let n = value.abs() as u32;
    if n == 0 {
        return 0;
    }
    let exponent = n.ilog2();
    let fraction = (n << (10 - exponent)) & 0x3ff;
    (if value < 0.0 { 0x8000 } else { 0 }) | ((exponent + 15) << 10 | fraction) as u16
}
