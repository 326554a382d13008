//! Values that change over a run.

use serde::{Deserialize, Serialize};

/// A value by the index of the update.
///
/// Written as a number (constant) or as a table (linear):
///
/// ```
/// use trainer::schedule::Schedule;
///
/// let schedule = Schedule::Linear { from: 1.0, to: 0.0, over: 4 };
/// assert_eq!([0, 1, 2, 3, 4, 5].map(|i| schedule.value(i)), [1.0, 0.75, 0.5, 0.25, 0.0, 0.0]);
/// assert_eq!(serde_json::to_string(&schedule)?, r#"{"from":1.0,"to":0.0,"over":4}"#);
/// assert_eq!(serde_json::from_str::<Schedule>("0.2")?, Schedule::Constant { value: 0.2 });
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "Text", into = "Text")]
#[non_exhaustive]
pub enum Schedule {
    /// Always the same.
    Constant {
        /// The value.
        value: f32,
    },
    /// `from + (to - from) * i / over` for update i < `over`, then `to`: the first of `over` updates has `from`, and
    /// the one after the last would have `to`.
    Linear {
        /// Value of update 0.
        from: f32,
        /// Value of update `over` and of all after it.
        to: f32,
        /// Number of updates.
        over: u64,
    },
}

impl Schedule {
    /// The value for update `index`, from 0: monotonic in `index`, between the two ends and never past them.
    ///
    /// In `f64` (one division, multiplication and addition), rounded once to `f32`: indices up to 2^53 are exact.
    pub fn value(&self, index: u64) -> f32 {
        match *self {
            Self::Constant { value } => value,
            Self::Linear { to, over, .. } if index >= over => to,
            Self::Linear { from, to, over } => {
                let (start, end) = (f64::from(from), f64::from(to));
                let value = (start + (end - start) * (index as f64 / over as f64)) as f32;
                let past = if from <= to { value > to } else { value < to };
                if past { to } else { value }
            }
        }
    }
}

/// How a schedule is written down.
#[derive(Serialize, Deserialize)]
#[serde(untagged, expecting = "a number, or a table with from, to and over")]
enum Text {
    Constant(f32),
    Linear(Linear),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Linear {
    from: f32,
    to: f32,
    over: u64,
}

impl From<Text> for Schedule {
    fn from(text: Text) -> Self {
        match text {
            Text::Constant(value) => Self::Constant { value },
            Text::Linear(Linear { from, to, over }) => Self::Linear { from, to, over },
        }
    }
}

impl From<Schedule> for Text {
    fn from(schedule: Schedule) -> Self {
        match schedule {
            Schedule::Constant { value } => Self::Constant(value),
            Schedule::Linear { from, to, over } => Self::Linear(Linear { from, to, over }),
        }
    }
}
