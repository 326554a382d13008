//! Operands between two pages that nobody may touch: a read or write one element outside ends the process.
#![cfg(unix)]

mod support;

use linalg::{MatMut, MatRef, PackedB, Par, Scratch};
use support::{ISAS, Matrix, assert_same, oracle};

/// Elements at one end of a mapping whose first and last pages are forbidden.
struct Fenced {
    base: *mut libc::c_void,
    bytes: usize,
    start: *mut f32,
    len: usize,
}

impl Fenced {
    /// `values` right before the last page, or right after the first.
    fn new(values: &[f32], at_end: bool) -> Self {
        // SAFETY: asks for a number.
        let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap();
        let inner = size_of_val(values).next_multiple_of(page).max(page);
        let bytes = inner + 2 * page;
        // SAFETY: a new private mapping, of which the pages between the first and the last become accessible.
        let base = unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            let base = libc::mmap(std::ptr::null_mut(), bytes, libc::PROT_NONE, flags, -1, 0);
            assert_ne!(base, libc::MAP_FAILED);
            assert_eq!(libc::mprotect(base.byte_add(page), inner, libc::PROT_READ | libc::PROT_WRITE), 0);
            base
        };
        let offset = if at_end { page + inner - size_of_val(values) } else { page };
        // SAFETY: `values` fit between the forbidden pages from either end.
        let start = unsafe {
            let start = base.byte_add(offset).cast::<f32>();
            start.copy_from_nonoverlapping(values.as_ptr(), values.len());
            start
        };
        Self { base, bytes, start, len: values.len() }
    }

    fn values(&mut self) -> &mut [f32] {
        // SAFETY: `len` elements that `new` wrote; the mapping lives as long as `self`.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.len) }
    }
}

impl Drop for Fenced {
    fn drop(&mut self) {
        // SAFETY: the mapping of `new`, which nobody uses any more.
        unsafe { libc::munmap(self.base, self.bytes) };
    }
}

#[test]
fn products_stay_inside_their_operands() {
    let scratch = &mut Scratch::new();
    let par = Par::Serial;
    let sizes = [1, 2, 3, 4, 5, 7, 8, 9, 12, 13, 15, 16, 17, 24, 31, 32, 33, 63, 65];
    let mut shapes = vec![[40, 70, 30], [14, 257, 1025], [1025, 258, 3], [257, 258, 3], [5, 3, 1025], [16, 8, 2050]];
    for (i, &n) in sizes.iter().enumerate() {
        for (j, &k) in [1, 2, 7, 8, 9, 15, 16].iter().enumerate() {
            shapes.push([1 + (i * 5 + j * 3) % 14, n, k]);
        }
    }
    for shape in shapes {
        let [m, n, k] = shape;
        let (a, b) = (Matrix::special(m, k, 4), Matrix::special(k, n, 8));
        let want = oracle::product(&a.values, &b.values, m, n, k);
        for at_end in [false, true] {
            let fence = |matrix: &Matrix| Fenced::new(&matrix.values, at_end);
            let (mut fa, mut fb, mut fc) = (fence(&a), fence(&b), fence(&Matrix::sentinel(m, n)));
            let (mut fat, mut fbt) = (fence(&a.transpose()), fence(&b.transpose()));
            let (a, at) = (MatRef::new(fa.values(), m, k).unwrap(), MatRef::new(fat.values(), k, m).unwrap());
            let (b, bt) = (MatRef::new(fb.values(), k, n).unwrap(), MatRef::new(fbt.values(), n, k).unwrap());
            let mut packed = PackedB::new(k, n);
            for isa in ISAS {
                for form in ["nn", "nt", "tn", "packed nn", "packed nt"] {
                    fc.values().fill(support::SENTINEL);
                    let c = MatMut::new(fc.values(), m, n).unwrap();
                    match form {
                        "nn" => linalg::gemm_nn_on(isa, a, b, c, par, scratch),
                        "nt" => linalg::gemm_nt_on(isa, a, bt, c, par, scratch),
                        "tn" => linalg::gemm_tn_on(isa, at, b, c, par, scratch),
                        "packed nn" => packed.pack_nn(b).and_then(|()| linalg::gemm_packed_on(isa, a, &packed, c, par)),
                        _ => packed.pack_nt(bt).and_then(|()| linalg::gemm_packed_on(isa, a, &packed, c, par)),
                    }
                    .unwrap();
                    assert_same(fc.values(), &want, n, &format!("{form} {shape:?} {isa:?}"));
                }
            }
        }
    }
}
