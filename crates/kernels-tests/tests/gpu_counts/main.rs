//! The counts of `docs/gpu-counts.md`, and what they have to be.

// Shared with the tests of the kernels' bits.
#[path = "../common/mod.rs"]
mod common;
mod dense;
mod sampling;
mod streams;

use kernels_tests::table::{Row, assert_documented};
use std::path::Path;

#[test]
fn the_document_has_todays_counts() {
    let rows: Vec<Row> = [streams::rows(), dense::rows(), sampling::rows()].concat();
    let document = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/gpu-counts.md");
    assert_documented(&document, &rows);
}
