//! A replay as plain numbers, on its way to or from a device.

use super::column::Columns;
use super::config::Config;
use super::error::Error;
use super::{PrioritizedReplay, check, priority};

/// All that a replay is, beside its settings.
pub(crate) struct Parts {
    pub(crate) inserted: u64,
    pub(crate) draws_made: u64,
    pub(crate) largest_ever: f32,
    /// (capacity)
    pub(crate) raw: Vec<f32>,
    /// (capacity, item_bytes)
    pub(crate) records: Vec<u8>,
}

impl PrioritizedReplay {
    pub(crate) fn to_parts(&self) -> Parts {
        Parts {
            inserted: self.window.next,
            draws_made: self.draws_made,
            largest_ever: self.largest_ever,
            raw: self.raw.iter().flat_map(|block| block.0).take(self.config.capacity).collect(),
            records: self.records.bytes().to_vec(),
        }
    }

    /// A replay of parts that were one: priorities that are weights and have powers.
    pub(crate) fn from_parts(config: Config, columns: Columns, parts: &Parts) -> Result<Self, Error> {
        const OPERATION: &str = "PrioritizedReplay::from_parts";
        let mut replay = Self::starting_at(config, columns, parts.inserted)?;
        check::len(OPERATION, "raw", replay.config.capacity, parts.raw.len())?;
        check::len(OPERATION, "records", replay.records.bytes().len(), parts.records.len())?;
        replay.draws_made = parts.draws_made;
        replay.largest_ever = parts.largest_ever;
        replay.set_all_raw(&parts.raw);
        let powers = priority::all_powers(OPERATION, replay.config.alpha, &parts.raw)?;
        replay.set_powers(&powers);
        replay.records.bytes_mut().copy_from_slice(&parts.records);
        Ok(replay)
    }
}
