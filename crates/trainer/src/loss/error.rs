//! What the losses refuse.

/// Rows that have no loss, or no distribution.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A slice has another length than the number of rows says.
    #[error("{operation}: {operand} has {got} elements, expected {expected}")]
    Length {
        /// The call.
        operation: &'static str,
        /// The slice.
        operand: &'static str,
        /// Elements it should have.
        expected: usize,
        /// Elements it has.
        got: usize,
    },
    /// The number of actions is 0 or too large, or a row is shorter than it.
    #[error("{operation}: {actions} actions in rows of {stride} elements, expected 1 to {most} actions")]
    Actions {
        /// The call.
        operation: &'static str,
        /// Actions.
        actions: usize,
        /// Elements from one row to the next.
        stride: usize,
        /// The largest number of actions for this stride.
        most: usize,
    },
    /// Every action of a row is masked.
    #[error("{operation}: no action of row {row} is legal")]
    NoLegalAction {
        /// The call.
        operation: &'static str,
        /// The row.
        row: usize,
    },
    /// An action's index is too large, or the action is masked.
    #[error("{operation}: action {action} of row {row} is not one of the {actions} legal ones")]
    Action {
        /// The call.
        operation: &'static str,
        /// The row.
        row: usize,
        /// The action.
        action: u32,
        /// Number of legal actions in the row.
        actions: usize,
    },
    /// A number of a row is NaN or infinite, or leads to one.
    #[error("{operation}: {operand} of row {row} is {value}")]
    NotFinite {
        /// The call.
        operation: &'static str,
        /// Which number.
        operand: &'static str,
        /// The row.
        row: usize,
        /// What it is.
        value: f32,
    },
    /// A setting is outside its range.
    #[error("{operation}: {name} is {value}, expected {expected}")]
    Setting {
        /// The call.
        operation: &'static str,
        /// The setting.
        name: &'static str,
        /// Its value.
        value: f32,
        /// Its range.
        expected: &'static str,
    },
}
