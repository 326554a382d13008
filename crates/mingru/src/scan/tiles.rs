//! One task for each row of the batch and tile of units.
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
    let across = shape.hidden.div_ceil(TILE);
    let tile = |i: usize| {
        let first = i % across * TILE;
        work(Tile { row: i / across, first, width: TILE.min(shape.hidden - first) });
    };
    let tiles = shape.batch * across;
    match par {
        Par::Rayon => (0..tiles).into_par_iter().for_each(tile),
        _ => (0..tiles).for_each(tile),
    }
}
