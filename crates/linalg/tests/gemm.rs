//! Products against plain loops that spell out the contract: every form, instruction set, stride and number of threads.

mod support;

use arith::simd::Isa;
use linalg::{MatMut, MatRef, PackedB, Par, Scratch};
use proptest::prelude::*;
use support::{ISAS, Matrix, assert_same, oracle, pool};

/// Gap between the rows of strided operands, in elements.
const GAP: usize = 3;

/// All forms of one product on some instruction sets, compared with the oracle.
fn check(isas: &[Isa], [m, n, k]: [usize; 3], par: Par, seed: u64) {
    let scratch = &mut Scratch::new();
    let (a, b) = (Matrix::special(m, k, seed), Matrix::special(k, n, seed ^ 0x55));
    let want = oracle::product(&a.values, &b.values, m, n, k);
    let (at, bt) = (a.transpose(), b.transpose());
    let mut packed = PackedB::new(k, n);
    for gap in [0, GAP] {
        let (ad, bd, atd, btd) = (a.strided(gap), b.strided(gap), at.strided(gap), bt.strided(gap));
        let view = |data, rows, cols: usize| MatRef::with_stride(data, rows, cols, cols + gap).unwrap();
        for &isa in isas {
            let run = |form: &str, f: &mut dyn FnMut(MatMut<'_>)| {
                let what = format!("{form} {m} x {n} x {k}, {isa:?}, {par:?}, gap {gap}, seed {seed}");
                let mut c = Matrix::sentinel(m, n).strided(gap);
                f(MatMut::with_stride(&mut c, m, n, n + gap).unwrap());
                support::assert_gaps(&c, m, n, gap, &what);
                assert_same(&support::dense(&c, m, n, gap), &want, n, &what);
            };
            run("nn", &mut |c| linalg::gemm_nn_on(isa, view(&ad, m, k), view(&bd, k, n), c, par, scratch).unwrap());
            run("nt", &mut |c| linalg::gemm_nt_on(isa, view(&ad, m, k), view(&btd, n, k), c, par, scratch).unwrap());
            run("tn", &mut |c| linalg::gemm_tn_on(isa, view(&atd, k, m), view(&bd, k, n), c, par, scratch).unwrap());
            packed.pack_nn(view(&bd, k, n)).unwrap();
            run("packed nn", &mut |c| linalg::gemm_packed_on(isa, view(&ad, m, k), &packed, c, par).unwrap());
            packed.pack_nt(view(&btd, n, k)).unwrap();
            run("packed nt", &mut |c| linalg::gemm_packed_on(isa, view(&ad, m, k), &packed, c, par).unwrap());
        }
    }
}

#[test]
fn small_shapes_on_every_instruction_set() {
    // 0, 1, odd, and the edges of tiles (4, 6, 12 rows; 8, 16, 32 columns) and of 8 x 8 transposes.
    for m in [0, 1, 2, 5, 6, 7, 11, 12, 13, 25] {
        for n in [0, 1, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 41, 65] {
            for k in [0, 1, 2, 7, 8, 9, 17, 64] {
                check(&ISAS, [m, n, k], Par::Serial, (m * 10_000 + n * 100 + k) as u64);
            }
        }
    }
}

#[test]
fn chains_longer_than_a_chunk() {
    for k in [1023, 1024, 1025, 2047, 2048, 2049, 3072, 3073, 4096, 4097, 5000, 8191] {
        for (m, n) in [(1, 1), (3, 5), (13, 4), (4, 33), (7, 16)] {
            check(&ISAS, [m, n, k], Par::Serial, k as u64);
        }
    }
}

#[test]
fn edges_of_blocks_for_caches() {
    for shape in [
        // A copied tile by tile: rows of A (nn) or of its transpose (tn) at least 1024 apart, 256 columns or more.
        [13, 255, 1024],
        [13, 256, 1023],
        [13, 256, 1024],
        [14, 257, 2050],
        [1024, 257, 9],
        // Groups of 16,384 elements of A by row; groups of 252 columns and rests of their chains.
        [16_383, 2, 3],
        [257, 17, 64],
        [252, 20, 360],
        [253, 20, 400],
        [300, 70, 1024],
        // B packed: more than 64 columns and 32 rows (nn), more than 256 columns and 256 rows (tn).
        [31, 66, 30],
        [32, 65, 30],
        [255, 257, 10],
        [256, 257, 10],
        // Chunks of a large C, whose results wait on the stack instead of in scratch.
        [520, 510, 1030],
    ] {
        check(&[Isa::detect()], shape, Par::Serial, shape[0] as u64);
    }
}

#[test]
fn any_number_of_threads() {
    for threads in [1, 2, 3, 8] {
        pool(threads).install(|| {
            for shape in [
                [200, 130, 100],
                [1, 4001, 600],
                [3001, 3, 300],
                [130, 70, 1025],
                [64, 36, 5000],
                [3, 70, 12_289],
                [600, 500, 12],
            ] {
                check(&[Isa::Avx2, Isa::Avx512], shape, Par::Rayon, 7);
            }
            check(&[Isa::Scalar], [130, 33, 1025], Par::Rayon, 8);
        });
    }
}

#[test]
fn kept_scratch_does_not_leak_into_results() {
    // A large product leaves its packed operand and partial sums behind.
    let scratch = &mut Scratch::new();
    for [m, n, k] in [[40, 100, 3000], [64, 4, 2100], [5, 7, 11], [33, 70, 0], [64, 5, 4097]] {
        let (a, b) = (Matrix::special(m, k, 1), Matrix::special(k, n, 2));
        let want = oracle::product(&a.values, &b.values, m, n, k);
        let (at, bt) = (a.transpose(), b.transpose());
        for form in 0..3 {
            let mut c = Matrix::sentinel(m, n);
            let view = MatMut::new(&mut c.values, m, n).unwrap();
            match form {
                0 => linalg::gemm_nn(a.view(), b.view(), view, Par::Serial, scratch),
                1 => linalg::gemm_nt(a.view(), bt.view(), view, Par::Serial, scratch),
                _ => linalg::gemm_tn(at.view(), b.view(), view, Par::Serial, scratch),
            }
            .unwrap();
            assert_same(&c.values, &want, n, &format!("form {form} of {m} x {n} x {k}"));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn random_shapes(m in 0usize..150, n in 0usize..150, k in 0usize..150, seed: u64) {
        check(&[Isa::Avx2, Isa::Avx512], [m, n, k], Par::Rayon, seed);
    }

    #[test]
    fn random_long_chains(m in 0usize..20, n in 0usize..40, k in 1usize..5001, seed: u64) {
        check(&[Isa::Avx2, Isa::Avx512], [m, n, k], Par::Rayon, seed);
    }
}
