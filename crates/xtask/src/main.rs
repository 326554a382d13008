//! Chores of the repository: `cargo xtask --help`.

mod ptx;
mod test;

use anyhow::Result;
use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Chores of the repository")]
struct Arguments {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Builds kernels-gpu to PTX, assembles it, and writes both it and its manifest to kernels-gpu/ptx.
    Ptx(ptx::Arguments),
    /// Runs all tests, those on a device included: on an emulated driver, or on the machine's.
    Test(test::Arguments),
}

fn main() -> Result<()> {
    match Arguments::parse().chore {
        Chore::Ptx(arguments) => ptx::run(&arguments),
        Chore::Test(arguments) => test::run(&arguments),
    }
}
