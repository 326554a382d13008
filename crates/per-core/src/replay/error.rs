//! What can be wrong with a caller's input, or with a file.

use super::column::Dtype;

/// Why an operation was refused. Whatever the reason, the replay is as it was before the call.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A tree or a draw refused.
    #[error(transparent)]
    Sampler(#[from] crate::Error),
    /// A setting, or a number of the same kind among a call's arguments, can't be.
    #[error("setting {name} = {value}: {reason}")]
    Setting {
        /// The field of [`Config`](super::Config), or the argument.
        name: &'static str,
        /// Its value.
        value: f64,
        /// What it must be.
        reason: &'static str,
    },
    /// There is no memory for so many items.
    #[error("no memory for {items} items of {item_bytes} bytes")]
    OutOfMemory {
        /// How many items.
        items: usize,
        /// Bytes of an item's rows.
        item_bytes: usize,
    },
    /// A column can't be added.
    #[error("column `{name}` {reason}")]
    Column {
        /// Its name.
        name: String,
        /// Why not.
        reason: &'static str,
    },
    /// There is no column of this name.
    #[error("there is no column `{name}`")]
    NoSuchColumn {
        /// The name.
        name: String,
    },
    /// A column has another type.
    #[error("column `{name}` has elements of type {expected}, not {got}")]
    ColumnType {
        /// Its name.
        name: String,
        /// Its type.
        expected: Dtype,
        /// The type that was asked for.
        got: Dtype,
    },
    /// A column of another replay: there is none of this number, type and width here.
    #[error("column number {index} with {width} elements of {dtype} isn't one of this replay's")]
    ForeignColumn {
        /// Its number.
        index: usize,
        /// Its type.
        dtype: Dtype,
        /// Elements of a row.
        width: usize,
    },
    /// A column comes twice.
    #[error("rows of column `{name}` are given twice")]
    ColumnTwice {
        /// Its name.
        name: String,
    },
    /// A column is missing.
    #[error("rows of column `{name}` are missing")]
    ColumnMissing {
        /// Its name.
        name: String,
    },
    /// Elements don't make up whole rows.
    #[error("column `{name}`: {elements} elements aren't a whole number of rows of {width}")]
    RowLength {
        /// The column.
        name: String,
        /// Elements of a row.
        width: usize,
        /// How many there are.
        elements: usize,
    },
    /// A view has rows of another width.
    #[error("column `{name}`: rows of {got} elements, expected {expected}")]
    RowWidth {
        /// The column.
        name: String,
        /// Elements of a row.
        expected: usize,
        /// Those of the view.
        got: usize,
    },
    /// A column has more or fewer rows than the others.
    #[error("column `{name}` has {got} rows, expected {expected}")]
    RowCount {
        /// The column.
        name: String,
        /// Rows of the first column, or 1 where one item is inserted.
        expected: usize,
        /// Its rows.
        got: usize,
    },
    /// An argument has another length than it must.
    #[error("{operation}: {what} has {got} elements, expected {expected}")]
    LengthMismatch {
        /// The refused call.
        operation: &'static str,
        /// Which argument.
        what: &'static str,
        /// How many elements it should have.
        expected: usize,
        /// How many it has.
        got: usize,
    },
    /// A priority is NaN, infinite or negative.
    #[error("{operation}: priority {value} at position {position} is not finite and >= 0")]
    InvalidPriority {
        /// The refused call.
        operation: &'static str,
        /// Where the first one is.
        position: usize,
        /// The priority.
        value: f32,
    },
    /// A TD error is NaN or infinite.
    #[error("{operation}: TD error {value} at position {position} is not finite")]
    InvalidTdError {
        /// The refused call.
        operation: &'static str,
        /// Where the first one is.
        position: usize,
        /// The TD error.
        value: f32,
    },
    /// A priority, or its power, is too large for an f32.
    #[error("{operation}: priority {value} at position {position} to the power of {alpha} is infinite")]
    PriorityOverflow {
        /// The refused call.
        operation: &'static str,
        /// Where the first one is: a position of the batch, or a slot where all powers are made anew.
        position: usize,
        /// The priority.
        value: f32,
        /// The exponent.
        alpha: f32,
    },
    /// A handle names an item that was never inserted here.
    #[error("{operation}: handle {handle} at position {position}: only {inserted} items were inserted so far")]
    UnknownHandle {
        /// The refused call.
        operation: &'static str,
        /// Where the first one is.
        position: usize,
        /// Its number.
        handle: u64,
        /// The number of items inserted.
        inserted: u64,
    },
    /// Beta is not in [0, 1].
    #[error("beta {value} is not in [0, 1]")]
    InvalidBeta {
        /// Its value.
        value: f32,
    },
    /// More items at a time than a replay can hold.
    #[error("{got} items at a time, at most {max} are possible")]
    TooManyItems {
        /// How many there are.
        got: usize,
        /// How many there may be.
        max: usize,
    },
    /// Every item has priority zero, so there is nothing to draw.
    #[error("all {items} items have priority zero")]
    AllZero {
        /// How many items there are.
        items: usize,
    },
    /// Fewer items can be drawn than draws without replacement were asked for.
    #[error("{draws} draws without replacement, but only {items} items can be drawn")]
    TooFewItems {
        /// How many draws were asked for.
        draws: usize,
        /// How many items have a priority above zero, or are there where none has and all are equally likely.
        items: usize,
    },
    /// There are no items.
    #[error("there are no items to draw from")]
    NoItems,
    /// A file can't be written or read.
    #[error(transparent)]
    File(#[from] checkpoint::Error),
    /// A file that was read has contents that can't be.
    #[error("`{what}` of the file: {reason}")]
    Contents {
        /// Which tensor or string.
        what: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A batch was made for a replay with other columns, or for one with n-step returns where this has none, or the other
    /// way round.
    #[error("the batch was made for a replay with other columns, or without its n-step returns")]
    ForeignBatch,
    /// A batch would be too large.
    #[error("there is no room for a batch of {draws} sequences of {steps} steps")]
    BatchTooLarge {
        /// How many sequences.
        draws: usize,
        /// Steps of each.
        steps: usize,
    },
    /// An inbox was made for a replay with other columns.
    #[error("the inbox was made for a replay with other columns")]
    ForeignInbox,
    /// An actor's ring has no room as yet: the same push can succeed once the learner has drained.
    #[error("actor {actor} pushes {items} items, but only {free} of {room} places are free")]
    InboxFull {
        /// The actor.
        actor: usize,
        /// How many items it pushes.
        items: usize,
        /// For how many there is room.
        free: usize,
        /// For how many there can be room.
        room: usize,
    },
    /// An actor's ring never has room for so many.
    #[error("actor {actor} pushes {items} items together, but has room for {room} at most")]
    InboxRoom {
        /// The actor.
        actor: usize,
        /// How many items it pushes.
        items: usize,
        /// For how many there can be room.
        room: usize,
    },
    /// The inbox was dropped.
    #[error("actor {actor} pushes into an inbox that is gone")]
    InboxGone {
        /// The actor.
        actor: usize,
    },
    /// An actor's writer was dropped, and what it left is less than what is to be taken.
    #[error("actor {actor} is gone and left {got} items, expected {expected}")]
    ActorGone {
        /// The actor.
        actor: usize,
        /// How many of its items are to be taken.
        expected: usize,
        /// How many there are.
        got: usize,
    },
}
