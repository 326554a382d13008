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

/// Calls `work` once for every tile; together the tiles cover each (row, unit) exactly once.
pub(crate) fn for_each(shape: Shape, par: Par, work: impl Fn(Tile) + Sync) {
    let Shape { batch, hidden, .. } = shape;
    if hidden == 0 {
        return;
    }
    match par {
        Par::Rayon => {
            // Whole rows read memory in order; a row is divided only to give every thread some work.
            let wanted = (2 * rayon::current_num_threads()).div_ceil(batch.max(1));
            let width = hidden.div_ceil(wanted).next_multiple_of(TILE).min(hidden);
            let across = hidden.div_ceil(width);
            (0..batch * across).into_par_iter().for_each(|i| {
                let first = i % across * width;
                work(Tile { row: i / across, first, width: width.min(hidden - first) });
            });
        }
        _ => (0..batch).for_each(|row| work(Tile { row, first: 0, width: hidden })),
    }
}
