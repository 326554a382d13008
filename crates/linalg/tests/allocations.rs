//! Nothing is allocated once scratch has grown, serially or inside a pool.

mod support;

use linalg::{MatMut, MatRef, PackedB, Par, Scratch};
use test_support::{Counting, allocations};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// One test, so that no other allocates meanwhile.
#[test]
fn steady_state_allocates_nothing() {
    let shapes = [[2048, 64, 64], [64, 4, 4100], [192, 64, 8192], [300, 200, 100], [520, 510, 1030], [1, 3, 5]];
    let data = vec![0.5f32; 8192 * 300];
    let mut c = vec![0.0f32; 520 * 510];
    let mut scratch = Scratch::new();
    let mut packed: Vec<PackedB> = shapes.iter().map(|&[_, n, k]| PackedB::new(k, n)).collect();
    let mut round = |par: Par| {
        for (&[m, n, k], packed) in shapes.iter().zip(&mut packed) {
            let view = |rows, cols| MatRef::new(&data, rows, cols).unwrap();
            let mut c = MatMut::new(&mut c, m, n).unwrap();
            linalg::gemm_nn(view(m, k), view(k, n), c.reborrow(), par, &mut scratch).unwrap();
            linalg::gemm_nt(view(m, k), view(n, k), c.reborrow(), par, &mut scratch).unwrap();
            linalg::gemm_tn(view(k, m), view(k, n), c.reborrow(), par, &mut scratch).unwrap();
            packed.pack_nn(view(k, n)).unwrap();
            packed.pack_nt(view(n, k)).unwrap();
            linalg::gemm_packed(view(m, k), packed, c.reborrow(), par).unwrap();
        }
    };
    for (threads, par) in [(1, Par::Serial), (2, Par::Rayon), (3, Par::Rayon)] {
        support::pool(threads).install(|| {
            // The pool's own queues grow too.
            for _ in 0..20 {
                round(par);
            }
            let before = allocations();
            for _ in 0..20 {
                round(par);
            }
            assert_eq!(allocations() - before, 0, "{threads} threads");
        });
    }
    let mut out = vec![0.0f32; 8192];
    support::pool(2).install(|| {
        let mut sums = || {
            linalg::sum_rows(MatRef::new(&data, 8192, 300).unwrap(), &mut out[..300], Par::Rayon).unwrap();
            linalg::sum_cols(MatRef::new(&data, 8192, 300).unwrap(), &mut out, Par::Rayon).unwrap();
        };
        (0..20).for_each(|_| sums());
        let before = allocations();
        (0..20).for_each(|_| sums());
        assert_eq!(allocations() - before, 0, "sums");
    });
    assert!(allocations() > 0, "the counter counts: matrices and pools were made above");
}
