//! A replay as a file.
//!
//! One safetensors file with a checksum ([`checkpoint`]), written as a whole or not at all, in a bounded amount of memory:
//!
//! ```text
//! priority            (filled) f32            before alpha, slot by slot; -1 where there is no item
//! rows.NAME           (filled, width)         one for each column, slot by slot
//! inserted, draws_made, largest_ever          scalars
//! config.*                                    settings; column numbers where a setting names a column
//! metadata: contents, column.N, column.N.at, config.draws, config.weights, config.new_items, config.all_zero
//! ```
//!
//! Powers and trees are functions of these and are made anew.

use super::column::{At, Column, Columns, Dtype, Element, Spec};
use super::config::{AllZero, Config, Draws, Episodes, NStep, NewItems, Weights};
use super::error::Error;
use super::records::Run;
use super::{ABSENT, PrioritizedReplay, check, priority};
use crate::tree::FANOUT;
use arith::fixed::is_weight;
use arith::simd::Isa;
use checkpoint::{Reader, Writer};
use half::bf16;
use std::path::Path;

/// What `contents` says.
const CONTENTS: &str = "lockstep replay 1";
/// Bytes of rows that are written together.
const PIECE: usize = 1 << 18;

/// The names of an enum's values.
trait Named: Copy + PartialEq + 'static {
    const NAMES: &[(Self, &str)];
}

impl Named for At {
    const NAMES: &[(Self, &str)] = &[(Self::Start, "start"), (Self::Last, "last")];
}
impl Named for Draws {
    const NAMES: &[(Self, &str)] =
        &[(Self::Independent, "independent"), (Self::Stratified, "stratified"), (Self::Distinct, "distinct")];
}
impl Named for Weights {
    const NAMES: &[(Self, &str)] =
        &[(Self::OverBuffer, "over buffer"), (Self::OverBatch, "over batch"), (Self::Unnormalized, "unnormalized")];
}
impl Named for NewItems {
    const NAMES: &[(Self, &str)] = &[(Self::LargestNow, "largest now"), (Self::LargestEver, "largest ever")];
}
impl Named for AllZero {
    const NAMES: &[(Self, &str)] = &[(Self::Error, "error"), (Self::Uniform, "uniform")];
}

fn name<T: Named>(value: T) -> &'static str {
    T::NAMES.iter().find(|(v, _)| *v == value).map_or("", |(_, name)| name)
}

impl PrioritizedReplay {
    /// Writes the file `path`: items, priorities, settings and counts, so that a [`load`](Self::load) goes on with the same
    /// draws, bit for bit. As a whole or not at all; an older file of this name stays until it is replaced (a link is
    /// replaced, not followed).
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        let filled = self.filled();
        let Config { capacity, alpha, epsilon, seed, stream, environments, .. } = self.config;
        let mut scalars = vec![
            ("inserted", self.window.next),
            ("draws_made", self.draws_made),
            ("config.capacity", capacity as u64),
            ("config.seed", seed),
            ("config.stream", stream),
            ("config.environments", environments as u64),
        ];
        let mut floats =
            vec![("largest_ever", self.largest_ever), ("config.alpha", alpha), ("config.epsilon", epsilon)];
        if let Some(Episodes { terminated, truncated }) = self.config.episodes {
            scalars.push(("config.episodes.terminated", terminated.index as u64));
            scalars.extend(truncated.map(|column| ("config.episodes.truncated", column.index as u64)));
        }
        if let Some(NStep { steps, discount, reward }) = self.config.n_step {
            scalars.push(("config.n_step.steps", steps as u64));
            scalars.push(("config.n_step.reward", reward.index as u64));
            floats.push(("config.n_step.discount", discount));
        }
        let mut file = Writer::new();
        file.put_metadata("contents", CONTENTS)?;
        file.put_metadata("config.draws", name(self.config.draws))?;
        file.put_metadata("config.weights", name(self.config.weights))?;
        file.put_metadata("config.new_items", name(self.config.new_items))?;
        file.put_metadata("config.all_zero", name(self.config.all_zero))?;
        for (key, value) in &scalars {
            file.put(key, &[], std::slice::from_ref(value))?;
        }
        for (key, value) in &floats {
            file.put(key, &[], std::slice::from_ref(value))?;
        }
        file.put_with::<f32>("priority", &[filled], |sink| {
            for block in &self.raw {
                sink.put(&block.0[..sink.remaining().min(FANOUT)])?;
            }
            Ok(())
        })?;
        for (i, spec) in self.columns.specs.iter().enumerate() {
            file.put_metadata(&format!("column.{i}"), &spec.name)?;
            file.put_metadata(&format!("column.{i}.at"), name(spec.at))?;
            match spec.dtype {
                Dtype::F32 => self.put_rows::<f32>(&mut file, i, spec)?,
                Dtype::Bf16 => self.put_rows::<bf16>(&mut file, i, spec)?,
                Dtype::U8 => self.put_rows::<u8>(&mut file, i, spec)?,
                Dtype::I32 => self.put_rows::<i32>(&mut file, i, spec)?,
            }
        }
        Ok(file.save_atomic(path)?)
    }

    /// Slots that may have items: from 0 on.
    fn filled(&self) -> usize {
        usize::try_from(self.window.next).unwrap_or(usize::MAX).min(self.config.capacity)
    }

    fn put_rows<'a, T: Element + checkpoint::Element>(
        &'a self,
        file: &mut Writer<'a>,
        column: usize,
        spec: &'a Spec,
    ) -> Result<(), Error> {
        let (filled, bytes) = (self.filled(), spec.bytes());
        file.put_with::<T>(&rows_name(spec), &[filled, spec.width], move |sink| {
            let rows = (PIECE / bytes).clamp(1, filled.max(1));
            let mut piece = vec![T::zeroed(); rows * spec.width];
            for first in (0..filled).step_by(rows) {
                let piece = &mut piece[..rows.min(filled - first) * spec.width];
                for (i, row) in bytemuck::cast_slice_mut::<T, u8>(piece).chunks_exact_mut(bytes).enumerate() {
                    row.copy_from_slice(self.records.row(column, bytes, first + i));
                }
                sink.put(piece)?;
            }
            Ok(())
        })?;
        Ok(())
    }

    /// Reads what [`save`](Self::save) wrote.
    ///
    /// # Errors
    /// [`Error::File`] where it can't be read, is damaged, or is another kind of file; [`Error::Contents`],
    /// [`Error::Column`], [`Error::InvalidPriority`] and [`Error::PriorityOverflow`] with what is wrong in it; those of
    /// [`new`](Self::new).
    pub fn load(path: impl AsRef<Path>) -> Result<Self, Error> {
        let mut file = Reader::open(path)?;
        if file.metadata("contents")? != CONTENTS {
            return Err(wrong("contents", "it isn't that of a replay, or of another version"));
        }
        let columns = read_columns(&file)?;
        check_whole(&file, &columns)?;
        let config = read_config(&mut file, &columns)?;
        let inserted = file.scalar::<u64>("inserted")?;
        let mut replay = Self::starting_at(config, columns, inserted)?;
        replay.draws_made = file.scalar::<u64>("draws_made")?;
        replay.largest_ever = file.scalar::<f32>("largest_ever")?;
        if !is_weight(replay.largest_ever) {
            return Err(wrong("largest_ever", "not finite and >= 0"));
        }
        replay.read_priorities(&mut file)?;
        for spec in replay.columns.clone().specs {
            match spec.dtype {
                Dtype::F32 => replay.read_rows::<f32>(&mut file, &spec)?,
                Dtype::Bf16 => replay.read_rows::<bf16>(&mut file, &spec)?,
                Dtype::U8 => replay.read_rows::<u8>(&mut file, &spec)?,
                Dtype::I32 => replay.read_rows::<i32>(&mut file, &spec)?,
            }
        }
        Ok(replay)
    }

    fn read_priorities(&mut self, file: &mut Reader) -> Result<(), Error> {
        let filled = self.filled();
        let mut priorities = file.tensor::<f32>("priority", &[filled])?;
        let faulty = |p: &f32| *p != ABSENT && !is_weight(*p);
        if let Some(position) = priorities.iter().position(faulty) {
            let (operation, value) = ("PrioritizedReplay::load", priorities[position]);
            return Err(Error::InvalidPriority { operation, position, value });
        }
        priorities.resize(self.config.capacity, ABSENT);
        self.set_all_raw(&priorities);
        let largest = self.largest.first().unwrap_or(0.0);
        if largest > self.largest_ever {
            return Err(wrong("largest_ever", "below the largest priority"));
        }
        let powers = priority::all_powers("PrioritizedReplay::load", self.config.alpha, &priorities)?;
        check::largest_ever(self.config.new_items, self.largest_ever, self.config.alpha)?;
        self.set_powers(&powers);
        Ok(())
    }

    /// Sets the priorities of all slots, each a weight or [`ABSENT`]; not yet their powers.
    pub(super) fn set_all_raw(&mut self, priorities: &[f32]) {
        self.present = priorities.iter().filter(|&&p| p != ABSENT).count();
        for (block, priorities) in self.raw.iter_mut().zip(priorities.chunks(FANOUT)) {
            block.0[..priorities.len()].copy_from_slice(priorities);
        }
        self.largest.rebuild(Isa::detect(), &self.raw);
    }

    fn read_rows<T: Element + checkpoint::Element>(&mut self, file: &mut Reader, spec: &Spec) -> Result<(), Error> {
        let column: Column<T> = self.columns.find(&spec.name)?;
        let mut pieces = file.rows::<T>(&rows_name(spec), &[self.filled(), spec.width])?;
        let mut slot = 0;
        while let Some(piece) = pieces.next_piece()? {
            let len = piece.len() / spec.width;
            self.records.scatter(&column.rows(piece), Run { row: 0, slot, len });
            slot += len;
        }
        Ok(())
    }
}

fn rows_name(spec: &Spec) -> String {
    format!("rows.{}", spec.name)
}

fn wrong(what: &str, reason: &'static str) -> Error {
    Error::Contents { what: what.into(), reason }
}

fn named<T: Named>(file: &Reader, key: &str) -> Result<T, Error> {
    let got = file.metadata(key)?;
    let found = T::NAMES.iter().find(|(_, name)| *name == got);
    found.map(|(value, _)| *value).ok_or_else(|| wrong(key, "not one of the names that it can have"))
}

/// That no part of a setting, nor a column, lacks the entry by which it is found.
fn check_whole(file: &Reader, columns: &Columns) -> Result<(), Error> {
    let there = |key: &str| file.info(key).is_ok();
    for (part, whole) in [
        ("config.episodes.truncated", "config.episodes.terminated"),
        ("config.n_step.steps", "config.n_step.reward"),
        ("config.n_step.discount", "config.n_step.reward"),
    ] {
        if there(part) && !there(whole) {
            return Err(wrong(part, "without the column that it goes with"));
        }
    }
    let known = |name: &&str| columns.specs.iter().any(|spec| *name == rows_name(spec));
    match file.names().filter(|name| name.starts_with("rows.")).find(|name| !known(name)) {
        Some(rows) => Err(wrong(rows, "rows without a column")),
        None => Ok(()),
    }
}

fn read_columns(file: &Reader) -> Result<Columns, Error> {
    let mut columns = Columns::new();
    loop {
        let key = format!("column.{}", columns.len());
        let Ok(name) = file.metadata(&key) else { return Ok(columns) };
        let at = named(file, &format!("{key}.at"))?;
        let (dtype, shape) = file.info(&format!("rows.{name}"))?;
        let dtype = match dtype {
            checkpoint::Dtype::F32 => Dtype::F32,
            checkpoint::Dtype::Bf16 => Dtype::Bf16,
            checkpoint::Dtype::U8 => Dtype::U8,
            checkpoint::Dtype::I32 => Dtype::I32,
            _ => return Err(wrong(&key, "rows of a type that a replay doesn't have")),
        };
        let &[_, width] = shape else { return Err(wrong(&key, "rows without two dimensions")) };
        columns.push_spec(Spec { name: name.into(), dtype, width, at })?;
    }
}

fn read_config(file: &mut Reader, columns: &Columns) -> Result<Config, Error> {
    let flag = |file: &mut Reader, key: &str| column::<u8>(file, columns, key);
    let episodes = match flag(file, "config.episodes.terminated")? {
        Some(terminated) => Some(Episodes { terminated, truncated: flag(file, "config.episodes.truncated")? }),
        None => None,
    };
    let n_step = match column::<f32>(file, columns, "config.n_step.reward")? {
        Some(reward) => Some(NStep {
            steps: count(file, "config.n_step.steps")?,
            discount: file.scalar("config.n_step.discount")?,
            reward,
        }),
        None => None,
    };
    Ok(Config {
        capacity: count(file, "config.capacity")?,
        alpha: file.scalar("config.alpha")?,
        epsilon: file.scalar("config.epsilon")?,
        seed: file.scalar("config.seed")?,
        stream: file.scalar("config.stream")?,
        draws: named(file, "config.draws")?,
        weights: named(file, "config.weights")?,
        new_items: named(file, "config.new_items")?,
        all_zero: named(file, "config.all_zero")?,
        environments: count(file, "config.environments")?,
        episodes,
        n_step,
    })
}

fn count(file: &mut Reader, key: &str) -> Result<usize, Error> {
    usize::try_from(file.scalar::<u64>(key)?).map_err(|_| wrong(key, "more than this machine can address"))
}

/// The column whose number is under `key`, if there is one.
fn column<T: Element>(file: &mut Reader, columns: &Columns, key: &str) -> Result<Option<Column<T>>, Error> {
    if file.info(key).is_err() {
        return Ok(None);
    }
    let index = count(file, key)?;
    let name = columns.specs.get(index).map(|spec| spec.name.as_str());
    name.map(|name| columns.find(name)).transpose()?.map_or_else(|| Err(wrong(key, "no such column")), |c| Ok(Some(c)))
}
