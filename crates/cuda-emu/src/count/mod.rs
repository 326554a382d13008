//! Counts of what decides speed on a GPU.

mod requests;

use std::fmt;

pub(crate) use requests::{bank_conflicts, sectors};

/// The counters, how those of parts of a launch join, and their names in a table.
macro_rules! counters {
    ($($(#[$doc:meta])* $field:ident: $join:ident, $name:literal;)*) => {
        /// What a launch did. A request is one instruction of one warp; a sector is 32 bytes.
        ///
        /// All but [`longest_warp`](Self::longest_warp), [`longest_chain`](Self::longest_chain) and
        /// [`longest_block`](Self::longest_block) are sums, which tell how much work there is. These three are maxima, which
        /// tell how much of the work has to be done one after the other: with enough processors to run everything else
        /// beside it, a launch takes as long as its longest chain, and no less than its longest warp has instructions. The
        /// other two don't depend on how many threads of the host run the blocks; without a loop that waits for another
        /// warp they don't depend on the seed either. A chain may lead through memory from block to block, and follows the
        /// order in which they ran.
        ///
        /// [`Display`](fmt::Display) gives a table, a counter in each line.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct Counters {
            $($(#[$doc])* pub $field: u64,)*
        }

        impl Counters {
            /// Joins what another part of the launch did, or another launch: sums are added, of maxima the greater is
            /// kept.
            pub fn join(&mut self, other: &Self) {
                $(join!($join, self.$field, other.$field);)*
            }

            /// All that were counted with their names, in the order of the table.
            pub fn rows(&self) -> Vec<(&'static str, u64)> {
                [$(shown!($join, $name, self.$field),)*].into_iter().flatten().collect()
            }
        }
    };
}

macro_rules! join {
    (sum, $a:expr, $b:expr) => {
        $a += $b
    };
    ($most:ident, $a:expr, $b:expr) => {
        $a = $a.max($b)
    };
}

/// What is counted only when asked for isn't shown otherwise.
macro_rules! shown {
    (asked, $name:expr, $value:expr) => {
        if $value > 0 { Some(($name, $value)) } else { None }
    };
    ($always:ident, $name:expr, $value:expr) => {
        Some(($name, $value))
    };
}

counters! {
    /// Instructions of warps.
    instructions: sum, "instructions of warps";
    /// Instructions of lanes: each instruction counts for the lanes that took part.
    lane_instructions: sum, "instructions of lanes";
    /// Most instructions that one warp ran: all that it issued, whichever of its lanes took part.
    longest_warp: most, "  of the longest warp";
    /// The longest chain of instructions each of which needed the one before: a value of it, from a register or through
    /// memory, or its being over, as of a branch or a barrier. In instructions or in cycles, as
    /// [`Options::chains`](crate::Options::chains) has it, without which it is 0.
    longest_chain: asked, "  of the longest chain";
    /// Most instructions that the warps of one block ran together.
    longest_block: most, "  of the longest block";
    /// Loads from global memory.
    global_load_requests: sum, "global load requests";
    /// Stores to global memory.
    global_store_requests: sum, "global store requests";
    /// Sectors that loads from global memory touched.
    global_load_sectors: sum, "global load sectors";
    /// Sectors that stores to global memory touched.
    global_store_sectors: sum, "global store sectors";
    /// Bytes that lanes loaded from global memory.
    global_load_bytes: sum, "global load bytes";
    /// Bytes that lanes stored to global memory.
    global_store_bytes: sum, "global store bytes";
    /// Loads from shared memory.
    shared_load_requests: sum, "shared load requests";
    /// Stores to shared memory.
    shared_store_requests: sum, "shared store requests";
    /// Passes over shared memory beyond those that its width demands.
    shared_bank_conflicts: sum, "shared bank conflicts";
    /// Loads from and stores to local memory.
    local_requests: sum, "local requests";
    /// Branches that sent lanes of a warp to different places.
    divergent_branches: sum, "divergent branches";
    /// Barriers that warps reached.
    barriers: sum, "barriers";
    /// Atomic operations of lanes.
    atomics: sum, "atomics";
    /// Blocks.
    blocks: sum, "blocks";
}

impl fmt::Display for Counters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (name, value)) in self.rows().into_iter().enumerate() {
            let end = if i == 0 { "" } else { "\n" };
            write!(f, "{end}{name:24}{value:>20}")?;
        }
        Ok(())
    }
}
