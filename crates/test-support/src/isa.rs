//! The same bits under each instruction set, in processes of their own.

use crate::run_apart;
use std::fmt::Debug;

/// Prints what the child of [`assert_same_bits`] has found: the instruction set it ran with and a digest of its bits.
pub fn print(isa: impl Debug, digest: &str) {
    println!("isa {isa:?} digest {digest}");
}

/// That the ignored test `child` of this file, which calls [`print()`], gives `expected` under each limit of the instruction
/// set. `detected`: what this process runs with.
///
/// # Panics
/// If a digest is another one, or a limit had no effect: the child must have run with the limit, or where the machine (or
/// a limit on this process) has less, with that.
pub fn assert_same_bits(expected: &str, detected: impl Debug) {
    let detected = format!("{detected:?}");
    for (limit, isa) in [("scalar", "Scalar"), ("avx2", "Avx2"), ("avx512", "Avx512")] {
        let output = run_apart("child", |command| command.env("LOCKSTEP_ISA", limit));
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains(&format!("digest {expected}")), "{limit}: {text}");
        assert!(text.contains(&format!("isa {isa} ")) || text.contains(&format!("isa {detected} ")), "{limit}: {text}");
        assert!(limit != "scalar" || text.contains("isa Scalar "), "{text}");
    }
}
