//! The example `dqn`'s command line: what it writes, and how it ends.

use std::fs;
use std::path::Path;
use std::process::Output;

fn start(folder: &Path, arguments: &[&str]) -> (Output, String) {
    let output = test_support::example("dqn").args(arguments).current_dir(folder).output().unwrap();
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    (output, text)
}

#[test]
fn the_program_compares_seeds_and_draws_them() {
    let folder = tempfile::tempdir().unwrap();
    let text = "hidden = [16]\nwarmup = 500\nevaluate_every = 1000\nevaluation_episodes = 5\n";
    fs::write(folder.path().join("small.toml"), text).unwrap();
    let common = ["--config", "small.toml", "--steps", "2000", "--seeds", "2", "--seed", "7", "--n-step", "2"];
    let outputs = [("1", "one"), ("2", "two")].map(|(threads, name)| {
        let (json, png) = (format!("{name}.jsonl"), format!("{name}.png"));
        let (output, text) =
            start(folder.path(), &[&common[..], &["--json", &json, "--plot", &png, "--threads", threads]].concat());
        // So few steps don't solve CartPole: exit status 2 says so.
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.contains("prioritized: 0 of 2 runs") && text.contains("uniform: 0 of 2 runs"), "{text}");
        assert_eq!(fs::read(folder.path().join(png)).unwrap()[..8], *b"\x89PNG\r\n\x1a\n");
        fs::read_to_string(folder.path().join(json)).unwrap()
    });
    assert_eq!(outputs[0], outputs[1], "threads change the metrics");
    let lines: Vec<serde_json::Value> = outputs[0].lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 2 * 2 * 2);
    for (i, line) in lines.iter().enumerate() {
        assert_eq!((line["alpha"].as_f64() == Some(0.0), &line["seed"]), (i >= 4, &(7 + i / 2 % 2).into()));
        assert_eq!(line["steps"], 1000 * (i % 2 + 1));
        for key in ["updates", "evaluation", "training", "loss", "grad_norm", "epsilon", "beta"] {
            assert!(line[key].is_number(), "{key}: {line}");
        }
    }
}

#[test]
fn wrong_arguments_end_in_an_error_that_names_them() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("unknown.toml"), "n_stepp = 3\n").unwrap();
    let cases: [(&[&str], &str); 6] = [
        (&["--seeds", "0"], "seeds"),
        (&["--steps", "0"], "total_steps"),
        (&["--config", "absent.toml"], "absent.toml"),
        (&["--config", "unknown.toml"], "n_stepp"),
        (&["--uniform", "--alpha", "0.5"], "alpha"),
        (&["--json", "no/such/folder"], "no/such/folder"),
    ];
    for (arguments, expected) in cases {
        let (output, text) = start(folder.path(), arguments);
        assert!(!output.status.success(), "{arguments:?}");
        assert!(text.contains(expected) && !text.contains("panicked"), "{arguments:?}: {text}");
    }
}
