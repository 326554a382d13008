//! Lockstep's examples: see the `[[example]]` entries of this package.

pub mod picture;
