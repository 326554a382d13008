//! mini_trainer's command line: what it writes, and how it ends.

use std::fs;
use std::path::Path;
use std::process::Output;

fn run(folder: &Path, arguments: &[&str]) -> (Output, String) {
    let output = test_support::example("mini_trainer").args(arguments).current_dir(folder).output().unwrap();
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    (output, text)
}

/// Eight updates of a small policy.
const CONFIG: &str = "environments = 16\nhorizon = 16\ntotal_steps = 2048\n[policy]\nencoder = [8]\nlayers = 1\n";

#[test]
fn a_run_leaves_metrics_a_picture_a_configuration_and_a_checkpoint() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("small.toml"), CONFIG).unwrap();
    let (output, text) =
        run(folder.path(), &["--config", "small.toml", "--out", "out", "--threads", "2", "--seed", "5", "--all-steps"]);
    // 2,048 steps don't solve CartPole: exit status 2 says so.
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("over 100 evaluation episodes"), "{text}");
    let out = folder.path().join("out");
    let metrics = fs::read_to_string(out.join("metrics.jsonl")).unwrap();
    let lines: Vec<serde_json::Value> = metrics.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 8);
    for (i, line) in lines.iter().enumerate() {
        assert_eq!(line["update"], i);
        assert_eq!(line["steps"], 256 * (i + 1));
        for key in ["policy_loss", "value_loss", "approx_kl", "clip_fraction", "entropy", "grad_norm"] {
            assert!(line[key].is_number(), "{key}");
        }
        assert_eq!(line["first_ratio"], serde_json::json!([1.0, 1.0]));
    }
    let picture = fs::read(out.join("learning_curve.png")).unwrap();
    assert_eq!(picture[..8], *b"\x89PNG\r\n\x1a\n");
    let config: trainer::Config = toml::from_str(&fs::read_to_string(out.join("config.toml")).unwrap()).unwrap();
    assert_eq!((config.seed, config.environments), (5, 16));
    // The checkpoint plays.
    let (output, text) = run(folder.path(), &["--eval", "out/checkpoint.safetensors"]);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("mean return"), "{text}");
}

#[test]
fn a_run_that_is_resumed_ends_with_the_same_checkpoint() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("small.toml"), CONFIG).unwrap();
    let whole = ["--config", "small.toml", "--out", "whole", "--threads", "1", "--all-steps"];
    run(folder.path(), &whole);
    let half = ["--config", "small.toml", "--out", "half", "--threads", "3", "--all-steps", "--steps", "1024"];
    run(folder.path(), &half);
    let rest = ["--resume", "half/checkpoint.safetensors", "--steps", "2048", "--threads", "2", "--all-steps"];
    let (_, text) = run(folder.path(), &rest);
    for file in ["checkpoint.safetensors", "metrics.jsonl", "config.toml"] {
        let read = |run: &str| fs::read(folder.path().join(run).join(file)).unwrap();
        assert!(read("whole") == read("half"), "{file}: {text}");
    }
}

#[test]
fn wrong_arguments_and_files_end_in_an_error_that_names_them() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("unknown.toml"), "horizont = 3\n").unwrap();
    fs::write(folder.path().join("wrong.toml"), "gamma = 2.0\n").unwrap();
    fs::write(folder.path().join("damaged"), [0_u8; 100]).unwrap();
    let cases: [(&[&str], &str); 8] = [
        (&["--threads", "0"], "threads"),
        (&["--steps", "0"], "total_steps"),
        (&["--env", "pong"], "pong"),
        (&["--config", "absent.toml"], "absent.toml"),
        (&["--config", "unknown.toml"], "horizont"),
        (&["--config", "wrong.toml"], "gamma is 2"),
        (&["--resume", "damaged"], "damaged"),
        (&["--eval", "nowhere"], "nowhere"),
    ];
    for (arguments, expected) in cases {
        let (output, text) = run(folder.path(), arguments);
        assert!(!output.status.success(), "{arguments:?}");
        assert!(text.contains(expected), "{arguments:?}: {text}");
        assert!(!text.contains("panicked"), "{arguments:?}: {text}");
    }
}
