//! Home of the criterion benches (`cargo bench`), one file for each crate.
