//! Loads that wait together.

/// Goes through `first`, `first + step`, ... below `end`, in this order: `fold` gets what `load` has read. The loads of up to
/// eight come first, one after the other: a warp waits where it needs the first of them, and the others come meanwhile.
///
/// `end + 7 step` must be below 2^64.
#[inline(always)]
pub fn grouped<T: Copy>(
    first: usize,
    end: usize,
    step: usize,
    load: impl Fn(usize) -> T,
    mut fold: impl FnMut(usize, T),
) {
    let mut i = first;
    macro_rules! group {
        ($count:literal [$($k:literal)*]) => {
            let values = unrolled!([$($k)*] |k| load(i + k * step));
            unrolled!([$($k)*] |k| fold(i + k * step, values[k]));
            i += $count * step;
        };
    }
    while i + 7 * step < end {
        group!(8 [0 1 2 3 4 5 6 7]);
    }
    if i + 3 * step < end {
        group!(4 [0 1 2 3]);
    }
    if i + step < end {
        group!(2 [0 1]);
    }
    if i < end {
        fold(i, load(i));
    }
}
