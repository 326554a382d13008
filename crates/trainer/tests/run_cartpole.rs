//! The configurations that ship with mini_trainer: they are valid, and they solve CartPole.

use trainer::env::CartPole;
use trainer::{Config, Trainer};

fn read(name: &str) -> Config {
    let path = format!("{}/../../examples/configs/{name}", env!("CARGO_MANIFEST_DIR"));
    let config: Config = toml::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    config.validate().unwrap();
    config
}

#[test]
fn shipped_configurations_are_valid_and_survive_a_round_trip() {
    let folder = format!("{}/../../examples/configs", env!("CARGO_MANIFEST_DIR"));
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let config = read(entry.unwrap().file_name().to_str().unwrap());
        assert_eq!(toml::from_str::<Config>(&toml::to_string(&config).unwrap()).unwrap(), config);
        count += 1;
    }
    assert!(count >= 3);
}

#[test]
fn cartpole_is_solved_with_and_without_memory() {
    for name in ["cartpole.toml", "cartpole_mlp.toml"] {
        for seed in [1, 2, 3] {
            let config = Config { seed, ..read(name) };
            let mut trainer = Trainer::new(config, 2, |_| CartPole::new()).unwrap();
            let mut mean = 0.0;
            // The score by which the environment counts as solved: 475 of 500, over 100 episodes.
            while mean < 475.0 {
                assert!(!trainer.is_finished(), "{name}, seed {seed}: only {mean} after {} steps", trainer.steps());
                let metrics = trainer.update().unwrap();
                if metrics.mean_return > 300.0 && trainer.updates() % 4 == 0 {
                    mean = trainer.evaluate(100, |_| CartPole::new()).unwrap().mean_return();
                }
            }
        }
    }
}
