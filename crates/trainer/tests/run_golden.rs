//! A run's bits, written down: on another machine, or with another instruction set, they must be these.

use sha2::{Digest, Sha256};
use trainer::env::CartPole;
use trainer::{Config, PolicyConfig, PriorityConfig, Trainer};

/// SHA-256 of the parameters (f32, little-endian) after [`run`]. A change of these digits is a breaking change.
const GOLDEN: &str = "2287b3b4970599349e419bb123c153b8608e2499bcc8b2055773766ae7b5aa21";

fn run() -> String {
    let config = Config {
        seed: 11,
        environments: 40,
        horizon: 48,
        segment: 24,
        total_steps: 40 * 48 * 6,
        policy: PolicyConfig { encoder: vec![33, 20], layers: 2 },
        priority: PriorityConfig { alpha: 0.6, ..PriorityConfig::default() },
        ..Config::default()
    };
    let mut trainer = Trainer::new(config, 2, |_| CartPole::new()).unwrap();
    while !trainer.is_finished() {
        trainer.update().unwrap();
    }
    let bytes: Vec<u8> = trainer.parameters().iter().flat_map(|p| p.to_le_bytes()).collect();
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn the_parameters_have_these_bits() {
    assert_eq!(run(), GOLDEN);
}

/// The child of the test below.
#[test]
#[ignore = "run by the_bits_do_not_depend_on_the_instruction_set, in a process of its own"]
fn child() {
    test_support::isa::print(arith::simd::Isa::detect(), &run());
}

#[test]
fn the_bits_do_not_depend_on_the_instruction_set() {
    test_support::isa::assert_same_bits(GOLDEN, arith::simd::Isa::detect());
}
