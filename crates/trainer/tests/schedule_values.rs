//! Schedules: exact values, ends, and how they are written down.

use trainer::schedule::Schedule;

#[test]
fn case_34_linear_from_one_over_four_updates() {
    let schedule = Schedule::Linear { from: 1.0, to: 0.0, over: 4 };
    let values: Vec<f32> = (0..4).map(|i| schedule.value(i)).collect();
    assert_eq!(values, [1.0, 0.75, 0.5, 0.25]);
}

#[test]
fn a_schedule_never_passes_its_end() {
    for (from, to) in [(1.0, 0.0), (0.3, 1e-7), (1e-8, 3e-4), (-2.0, 5.0), (0.1, 0.1), (3e38, -3e38)] {
        for over in [0, 1, 3, 7, 1_000, u64::MAX] {
            let schedule = Schedule::Linear { from, to, over };
            let (low, high) = if from < to { (from, to) } else { (to, from) };
            let indices = (0..40).chain([over.saturating_sub(1), over, over.saturating_add(1), u64::MAX]);
            for index in indices {
                let value = schedule.value(index);
                assert!(value >= low && value <= high, "{schedule:?} at {index}: {value}");
                let next = schedule.value(index.saturating_add(1));
                assert!(if from <= to { next >= value } else { next <= value }, "{schedule:?} at {index}");
                if index >= over {
                    assert_eq!(value, to);
                }
            }
            if over > 0 {
                assert_eq!(schedule.value(0), from);
            }
        }
    }
    assert_eq!(Schedule::Constant { value: 0.2 }.value(u64::MAX), 0.2);
}

#[test]
fn written_and_read_again_a_schedule_is_the_same() {
    for schedule in [
        Schedule::Constant { value: 0.1 },
        Schedule::Constant { value: f32::MIN_POSITIVE },
        Schedule::Linear { from: 3e-4, to: 0.0, over: 1 << 53 },
    ] {
        let text = serde_json::to_string(&schedule).unwrap();
        assert_eq!(serde_json::from_str::<Schedule>(&text).unwrap(), schedule, "{text}");
    }
    assert_eq!(serde_json::from_str::<Schedule>("1").unwrap(), Schedule::Constant { value: 1.0 });
    for wrong in [
        r#""fast""#,
        "{}",
        r#"{"from":1.0,"to":0.0}"#,
        r#"{"from":1.0,"to":0.0,"over":-1}"#,
        r#"{"from":1.0,"to":0.0,"over":4,"shape":"cosine"}"#,
        "null",
        "[1.0]",
    ] {
        let error = serde_json::from_str::<Schedule>(wrong).unwrap_err().to_string();
        assert!(error.contains("a number, or a table with from, to and over"), "{error}");
    }
}
