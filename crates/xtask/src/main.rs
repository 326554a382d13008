//! Chores of the repository: `cargo xtask --help`.

mod ptx;

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
}

fn main() -> Result<()> {
    match Arguments::parse().chore {
        Chore::Ptx(arguments) => ptx::run(&arguments),
    }
}
