//! Blocks of 16 weights and the levels of nodes above them, which trees and CDFs have alike.

/// Weights of a block, and children of a node.
pub(super) const FANOUT: u128 = 16;
/// Threads of a block of the kernels that pass over all weights.
pub(super) const WIDTH: u32 = 256;
/// Weights that such a block has.
pub(super) const TILE: u128 = 4096;

/// Elements of the nodes above `weights` weights: 16 for each node of each level, up to the one that has a single node.
pub const fn nodes_len(weights: u128) -> u128 {
    let mut width = weights.div_ceil(FANOUT);
    let mut nodes = 0;
    loop {
        width = width.div_ceil(FANOUT);
        nodes += width;
        if width <= 1 {
            return nodes * FANOUT;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_counted_level_by_level() {
        for (weights, nodes) in [(1, 1), (16, 1), (256, 1), (257, 2 + 1), (4096, 16 + 1), (4097, 17 + 2 + 1)] {
            assert_eq!(nodes_len(weights), 16 * nodes, "{weights}");
        }
    }
}
