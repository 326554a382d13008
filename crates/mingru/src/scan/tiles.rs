//! One task for each row of the batch, or for each tile of a row where there are few rows.
use crate::{Par, Shape, tuning::TILE};
use rayon::prelude::*;

/// One row of the batch and a range of its units.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tile {
    pub(crate) row: usize,
    pub(crate) first: usize,
    pub(crate) width: usize,
}

/// Calls `work` once for every tile; together the tiles cover each (row, unit) exactly once. `scratch` makes what tiles
/// that run one after the other may share.
pub(crate) fn for_each<W>(
    shape: Shape,
    par: Par,
    scratch: impl Fn() -> W + Sync + Send,
    work: impl Fn(&mut W, Tile) + Sync + Send,
) {
    let Shape { batch, hidden, .. } = shape;
    if hidden == 0 || batch == 0 {
        return;
    }
    let threads = if par == Par::Serial { 1 } else { rayon::current_num_threads() };
    if threads == 1 {
        let mut scratch = scratch();
        (0..batch).for_each(|row| work(&mut scratch, Tile { row, first: 0, width: hidden }));
        return;
    }
    // Whole rows read memory in order; a row is divided only to give every thread some work.
    let wanted = (2 * threads).div_ceil(batch);
    let width = hidden.div_ceil(wanted).next_multiple_of(TILE).min(hidden);
    let across = hidden.div_ceil(width);
    (0..batch * across).into_par_iter().for_each_init(scratch, |scratch, i| {
        let first = i % across * width;
        work(scratch, Tile { row: i / across, first, width: width.min(hidden - first) });
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::sync::atomic::{AtomicU8, Ordering};

    /// The disjointness that the shared outputs rest on.
    #[test]
    fn tiles_cover_every_unit_once() {
        for threads in [1, 2, 3, 8] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            for batch in [0, 1, 2, 3, 5, 16, 40] {
                for hidden in [0, 1, 15, 16, 63, 64, 65, 128, 200, 1000] {
                    for par in [Par::Serial, Par::Rayon] {
                        let seen: Vec<AtomicU8> = (0..batch * hidden).map(|_| AtomicU8::new(0)).collect();
                        let shape = Shape { batch, time: 1, hidden };
                        pool.install(|| {
                            for_each(
                                shape,
                                par,
                                || (),
                                |(), tile| {
                                    assert!(tile.width > 0 && tile.first + tile.width <= hidden);
                                    for unit in tile.first..tile.first + tile.width {
                                        seen[tile.row * hidden + unit].fetch_add(1, Ordering::Relaxed);
                                    }
                                },
                            );
                        });
                        assert!(seen.iter().all(|n| n.load(Ordering::Relaxed) == 1), "{shape:?} {par:?} {threads}");
                    }
                }
            }
        }
    }
}
