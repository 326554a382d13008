//! The example `prioritized_replay`: what it says of each call.

use std::process::Command;

/// Lines that the tour prints, in this order. What is drawn is part of them: it is the same on every machine.
const LINES: [&str; 21] = [
    "next_observation: 2 x f32, of an n-step return's Last",
    "a ring of 64 items of 26 bytes",
    "item 0 has priority 1.0",
    "item 1 has priority 2.0",
    "refused: column `action` has 2 rows, expected 1",
    "and 2 more as a batch: the largest priority there, Some(2.0)",
    "-- Draw in proportion to priority^alpha, learn, and send the TD errors back",
    "  priorities updated: 8, stale: 0",
    "draws made: 24",
    "slot Some(0) had item 0, now item 64",
    "update of both: applied 1, stale 1",
    // Rewards of 1 at a discount of 1/2: three in full, two up to a terminated and to a truncated episode's end.
    "item 48: 3 rewards, R = 1.75, D = 0.125, next = [15, 0]",
    "item 49: 2 rewards, R = 1.5, D = 0, next = [14, 1]",
    "item 50: 2 rewards, R = 1.5, D = 0.25, next = [14, 2]",
    "item 51: 3 rewards, R = 1.75, D = 0.125, next = [15, 3]",
    "removed 1 (the second time it was stale: 1)",
    "64 items, then 63; contains it: false",
    "alpha 0: item 20 has probability 0.01587",
    // Stratified over 0.25 + 1 + 2 + 4 = 7.25: the four draws come from quarters of 1.8125.
    "OverBatch: priorities [2.0, 2.0, 4.0, 4.0], weights [1.0000, 1.0000, 0.5000, 0.5000]",
    "Unnormalized: priorities [2.0, 2.0, 4.0, 4.0], weights [0.9062, 0.9062, 0.4531, 0.4531]",
    "100 batches were equal",
];

#[test]
fn the_tour_says_what_each_call_does() {
    let test = std::env::current_exe().unwrap();
    let folder = test.parent().unwrap().parent().unwrap();
    let program = folder.join("examples").join(format!("prioritized_replay{}", std::env::consts::EXE_SUFFIX));
    let mut first = None;
    for limit in ["scalar", "avx512"] {
        let output = Command::new(&program).env("LOCKSTEP_ISA", limit).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
        let mut rest = text.lines();
        for line in LINES {
            assert!(rest.any(|printed| printed == line), "{line:?} is missing, or not in its place:\n{text}");
        }
        // The draws of the replay that was loaded are those of the one that was saved.
        let drawn: Vec<&str> = text.lines().rev().skip(1).take(2).collect();
        assert!(drawn[0].starts_with("items [") && drawn[0] == drawn[1], "{drawn:?}");
        assert_eq!(*first.get_or_insert(text.clone()), text, "{limit}");
    }
}
