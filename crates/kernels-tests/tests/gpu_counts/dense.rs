//! The scan.

use crate::common::{Case, Format};
use kernels_tests::Bench;
use kernels_tests::table::Row;
use mingru::bf16;

/// B, T, H of a case that takes a moment: what a block does doesn't depend on how many there are.
const SHAPE: [usize; 3] = [2, 128, 256];
/// Steps of a chunk.
const INTERVAL: usize = 16;
/// Warps of a block of the tiled kernel.
const WARPS: u32 = 16;

/// Bytes of all operands: `wide` sequences of width H in the format, checkpoints, `keep`, and the states at both ends.
fn least<S>(wide: usize, checkpoints: usize) -> Option<u64> {
    let [batch, time, hidden] = SHAPE;
    let floats = batch * checkpoints * hidden + batch * time + 2 * batch * hidden;
    Some((wide * batch * time * hidden * size_of::<S>() + 4 * floats) as u64)
}

fn scans<S: Format>() -> Vec<Row> {
    let (bench, [batch, time, hidden]) = (Bench::new("mingru"), SHAPE);
    let case = Case::<S>::new(batch, time, hidden);
    let shape = format!("(B, T, H) = ({batch}, {time}, {hidden})");
    let name = |kernel: &str| format!("mingru_scan_{kernel}_{}", S::SUFFIX);
    let chunks = time.div_ceil(INTERVAL);
    let with_interval = format!("{shape}, K = {INTERVAL}");
    vec![
        Row::new(&name("forward"), &with_interval, case.run_forward(&bench, INTERVAL).1, least::<S>(5, chunks)),
        Row::new(&name("backward_reference"), &shape, case.run_reference(&bench).1, least::<S>(9, time)),
        Row::new(
            &name("backward_tiled"),
            format!("{with_interval}, {WARPS} warps"),
            case.run_tiled(&bench, INTERVAL, WARPS).1,
            least::<S>(9, chunks),
        ),
    ]
}

/// The rows of the document.
pub(crate) fn rows() -> Vec<Row> {
    [scans::<f32>(), scans::<bf16>()].concat()
}

#[test]
fn sequences_are_moved_once() {
    for row in rows() {
        assert!(row.excess().unwrap() <= 1.1, "{row:?}");
        assert_eq!(row.counters.shared_bank_conflicts, 0, "{row:?}");
        assert_eq!(row.counters.local_requests, 0, "{row:?}");
    }
}
