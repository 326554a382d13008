//! Special registers by name.

use crate::lanes::{NARROW, WIDE};
use crate::program::Special;

pub(super) enum Found {
    Fixed(Special),
    Clock { words: u32, high: bool },
}

pub(super) fn parse(name: &str) -> Option<Found> {
    let (base, component) = match name.split_once('.') {
        Some((base, component)) => (base, Some(["x", "y", "z", "w"].iter().position(|c| *c == component)?)),
        None => (name, None),
    };
    let vector = |make: fn(usize) -> Special| match component? {
        // The fourth component is always zero.
        3 => Some(Special::Fixed(0)),
        i => Some(make(i)),
    };
    let special = match (base, component) {
        ("%tid", Some(_)) => vector(Special::Thread)?,
        ("%ntid", Some(_)) => vector(Special::Threads)?,
        ("%ctaid", Some(_)) => vector(Special::Block)?,
        ("%nctaid", Some(_)) => vector(Special::Blocks)?,
        // Clusters have one block.
        ("%clusterid", Some(_)) => vector(Special::Block)?,
        ("%nclusterid", Some(_)) => vector(Special::Blocks)?,
        ("%cluster_ctaid", Some(_)) => Special::Fixed(0),
        ("%cluster_nctaid", Some(_)) => Special::Fixed(1),
        ("%cluster_ctarank", None) => Special::Fixed(0),
        ("%cluster_nctarank", None) => Special::Fixed(1),
        ("%laneid", None) => Special::Lane,
        ("%warpid", None) => Special::Warp,
        ("%nwarpid", None) => Special::Warps,
        ("%smid", None) => Special::Fixed(0),
        ("%nsmid", None) => Special::Fixed(1),
        ("%gridid", None) => Special::Grid,
        ("%lanemask_eq", None) => Special::MaskEq,
        ("%lanemask_le", None) => Special::MaskLe,
        ("%lanemask_lt", None) => Special::MaskLt,
        ("%lanemask_ge", None) => Special::MaskGe,
        ("%lanemask_gt", None) => Special::MaskGt,
        ("%dynamic_smem_size", None) => Special::Dynamic,
        ("%total_smem_size" | "%aggr_smem_size", None) => Special::Shared,
        ("%clock" | "%globaltimer_lo", None) => return Some(Found::Clock { words: NARROW, high: false }),
        ("%clock_hi" | "%globaltimer_hi", None) => return Some(Found::Clock { words: NARROW, high: true }),
        ("%clock64" | "%globaltimer", None) => return Some(Found::Clock { words: WIDE, high: false }),
        _ => {
            // Registers of the driver and of performance monitors: nothing sets them.
            let number = base.strip_prefix("%envreg").or_else(|| base.strip_prefix("%pm"))?;
            number.parse::<u32>().ok().filter(|&n| n < 32)?;
            Special::Fixed(0)
        }
    };
    Some(Found::Fixed(special))
}
