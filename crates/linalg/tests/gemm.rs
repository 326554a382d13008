//! Products against plain loops that spell out the contract.

mod support;

use arith::simd::Isa;
use linalg::{MatMut, MatRef, PackedB, Par, Scratch};
use support::{Matrix, assert_same, oracle, pool};

const ISAS: [Isa; 3] = [Isa::Scalar, Isa::Avx2, Isa::Avx512];

/// Gap between the rows of strided operands, in elements.
const GAP: usize = 3;

/// All forms of one product on one instruction set, compared with the oracle.
fn check(isa: Isa, m: usize, n: usize, k: usize, par: Par, seed: u64) {
    let what = format!("{isa:?} {m} x {n} x {k} {par:?}");
    let scratch = &mut Scratch::new();
    let (a, b) = (Matrix::special(m, k, seed), Matrix::special(k, n, seed ^ 0x55));
    let want = oracle::product(&a.values, &b.values, m, n, k);
    let (at, bt) = (a.transpose(), b.transpose());
    let mut packed = PackedB::new(k, n);
    for gap in [0, GAP] {
        let (ad, bd, atd, btd) = (a.strided(gap), b.strided(gap), at.strided(gap), bt.strided(gap));
        let view = |data, rows, cols: usize| MatRef::with_stride(data, rows, cols, cols + gap).unwrap();
        let run = |form: &str, f: &mut dyn FnMut(MatMut<'_>)| {
            let mut c = Matrix::sentinel(m, n).strided(gap);
            f(MatMut::with_stride(&mut c, m, n, n + gap).unwrap());
            support::assert_gaps(&c, m, n, gap, &what);
            assert_same(&support::dense(&c, m, n, gap), &want, n, &format!("{form} {what} gap {gap}"));
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

#[test]
fn small_shapes_on_every_instruction_set() {
    // 0, 1, odd, and the edges of tiles (4, 6, 12 rows; 8, 16, 32 columns) and of 8 x 8 transposes.
    for isa in ISAS {
        for m in [0, 1, 2, 5, 6, 7, 11, 12, 13, 25] {
            for n in [0, 1, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 41, 65] {
                for k in [0, 1, 2, 7, 8, 9, 17, 64] {
                    check(isa, m, n, k, Par::Serial, (m * 10_000 + n * 100 + k) as u64);
                }
            }
        }
    }
}

#[test]
fn chains_longer_than_a_chunk() {
    for isa in ISAS {
        for k in [1023, 1024, 1025, 2047, 2048, 2049, 3072, 3073, 4096, 4097, 5000, 8191] {
            for (m, n) in [(1, 1), (3, 5), (13, 4), (4, 33), (7, 16)] {
                check(isa, m, n, k, Par::Serial, k as u64);
            }
        }
    }
}

#[test]
fn any_number_of_threads() {
    for threads in [1, 2, 3, 8] {
        pool(threads).install(|| {
            for (m, n, k) in [
                (200, 130, 100),
                (1, 4001, 600),
                (3001, 3, 300),
                (130, 70, 1025),
                (64, 36, 5000),
                (3, 70, 12_289),
                (600, 500, 12),
            ] {
                for isa in ISAS {
                    check(isa, m, n, k, Par::Rayon, 7);
                }
            }
        });
    }
}
