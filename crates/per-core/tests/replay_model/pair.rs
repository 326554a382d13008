//! A replay beside its model, and the comparison of all that can be seen of it.

use crate::model::{Expected, Item, Model};
use half::bf16;
use ndarray::{Array2, s};
use per_core::PrioritizedReplay;
use per_core::replay::{Batch, Column, Columns, Config, Error, Handle, Handles, NewItems, Rows, Updated};
use std::collections::BTreeMap;

/// One column of each type.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Four {
    pub(crate) state: Column<f32>,
    pub(crate) half: Column<bf16>,
    pub(crate) pixels: Column<u8>,
    pub(crate) action: Column<i32>,
}

fn state(tag: u32) -> [f32; 2] {
    [tag as f32, -0.5 - tag as f32]
}

fn half(tag: u32) -> [bf16; 1] {
    [bf16::from_f32((tag % 256) as f32)]
}

fn pixels(tag: u32) -> [u8; 3] {
    [tag as u8, (tag >> 8) as u8, !tag as u8]
}

fn action(tag: u32) -> [i32; 1] {
    [-7 * tag as i32]
}

/// Rows of many items.
pub(crate) struct Table {
    state: Vec<f32>,
    half: Vec<bf16>,
    pixels: Vec<u8>,
    action: Vec<i32>,
    /// The states with other numbers between them.
    loose: Array2<f32>,
}

impl Table {
    pub(crate) fn new(tags: &[u32]) -> Self {
        let mut loose = Array2::from_elem((2 * tags.len(), 5), f32::NAN);
        for (mut row, &tag) in loose.slice_mut(s![..;2, 1..;2]).rows_mut().into_iter().zip(tags) {
            row.assign(&ndarray::arr1(&state(tag)));
        }
        Self {
            state: tags.iter().flat_map(|&tag| state(tag)).collect(),
            half: tags.iter().flat_map(|&tag| half(tag)).collect(),
            pixels: tags.iter().flat_map(|&tag| pixels(tag)).collect(),
            action: tags.iter().flat_map(|&tag| action(tag)).collect(),
            loose,
        }
    }

    /// In another order than the columns have.
    pub(crate) fn rows(&self, columns: Four, strided: bool) -> [Rows<'_>; 4] {
        let state = if strided {
            columns.state.view(self.loose.slice(s![..;2, 1..;2]))
        } else {
            columns.state.rows(&self.state)
        };
        [columns.action.rows(&self.action), state, columns.pixels.rows(&self.pixels), columns.half.rows(&self.half)]
    }
}

pub(crate) struct Pair {
    pub(crate) model: Model,
    pub(crate) replay: PrioritizedReplay,
    pub(crate) columns: Four,
    /// The numbers that the last batches drew.
    pub(crate) outstanding: Vec<Vec<u64>>,
    /// By number of draws, with what was drawn into it last.
    batches: BTreeMap<usize, Batch>,
    tags: u32,
}

impl Pair {
    pub(crate) fn new(config: Config, start: u64) -> Self {
        let mut all = Columns::new();
        let columns = Four {
            state: all.add("state", 2).unwrap(),
            half: all.add_last("half", 1).unwrap(),
            pixels: all.add("pixels", 3).unwrap(),
            action: all.add("action", 1).unwrap(),
        };
        let replay = PrioritizedReplay::starting_at(config.clone(), all, start).unwrap();
        Self {
            model: Model::new(config, start),
            replay,
            columns,
            outstanding: vec![],
            batches: BTreeMap::new(),
            tags: 1,
        }
    }

    pub(crate) fn tags(&mut self, n: usize) -> Vec<u32> {
        self.tags += n as u32;
        (self.tags - n as u32..self.tags).collect()
    }

    /// Inserts n items, one by itself if `single`; what is refused changes nothing.
    pub(crate) fn insert(&mut self, n: usize, priorities: Option<&[f32]>, single: bool, strided: bool) {
        let tags = self.tags(n);
        let table = Table::new(&tags);
        let rows = table.rows(self.columns, strided);
        let one = |handle: Handle| vec![handle];
        let many = |handles: Handles| {
            assert_eq!(handles.len(), n);
            handles.collect::<Vec<_>>()
        };
        let found = match priorities {
            None if single => self.replay.insert(&rows).map(one),
            None => self.replay.insert_batch(&rows).map(many),
            Some(p) if single => self.replay.insert_with_priority(&rows, p[0]).map(one),
            Some(p) if strided => self.replay.insert_batch_with_priorities(&rows, spread(p).slice(s![..;3])).map(many),
            Some(p) => self.replay.insert_batch_with_priorities(&rows, p).map(many),
        };
        if self.overflows(priorities.unwrap_or_default(), found.as_ref().err()) {
            return;
        }
        let numbers: Vec<u64> = found.unwrap().iter().map(|handle| handle.number()).collect();
        assert_eq!(numbers, (self.model.next..self.model.next + n as u64).collect::<Vec<_>>());
        self.model.insert(&tags, priorities);
    }

    /// Whether the model refuses these priorities; then the replay did so for the same reason.
    fn overflows(&self, priorities: &[f32], error: Option<&Error>) -> bool {
        let Err(expected) = self.model.check_powers(priorities) else { return false };
        let Some(&Error::PriorityOverflow { position, value, alpha, .. }) = error else { panic!("{error:?}") };
        assert_eq!((position, value, alpha), (expected.position, expected.value, self.model.config.alpha));
        true
    }

    /// By TD errors, or by priorities.
    pub(crate) fn set(&mut self, numbers: &[u64], values: &[f32], td: bool, strided: bool) {
        let handles: Vec<Handle> = numbers.iter().map(|&n| Handle::from_number(n)).collect();
        let spread = spread(values);
        let view = if strided { spread.slice(s![..;3]) } else { values.into() };
        let priorities: Vec<f32> = match td {
            true => values.iter().map(|td| td.abs() + self.model.config.epsilon).collect(),
            false => values.to_vec(),
        };
        let found = match td {
            true => self.replay.update_priorities(&handles, view),
            false => self.replay.set_priorities(&handles, view),
        };
        if self.overflows(&priorities, found.as_ref().err()) {
            return;
        }
        let (applied, stale) = self.model.set(numbers, &priorities);
        assert_eq!(found.unwrap(), Updated { applied, stale });
    }

    pub(crate) fn remove(&mut self, numbers: &[u64]) {
        let handles: Vec<Handle> = numbers.iter().map(|&n| Handle::from_number(n)).collect();
        let (applied, stale) = self.model.remove(numbers);
        assert_eq!(self.replay.remove(&handles).unwrap(), Updated { applied, stale });
    }

    pub(crate) fn clear(&mut self) {
        self.replay.clear();
        self.model.slots.fill(None);
    }

    pub(crate) fn set_alpha(&mut self, alpha: f32) {
        let mut changed = self.model.clone();
        changed.config.alpha = alpha;
        let raw: Vec<f32> = changed.slots.iter().map(|item| item.map_or(0.0, |item| item.priority)).collect();
        let result = self.replay.set_alpha(alpha);
        if let Err(expected) = changed.check_powers(&raw) {
            let Err(Error::PriorityOverflow { position, value, .. }) = result else { panic!("{result:?}") };
            assert_eq!((position, value), (expected.position, expected.value));
        } else if changed.config.new_items == NewItems::LargestEver
            && changed.check_powers(&[changed.largest_ever]).is_err()
        {
            assert!(matches!(result, Err(Error::Setting { name: "alpha", .. })), "{result:?}");
        } else {
            result.unwrap();
            self.model = changed;
        }
    }

    /// Draws at the replay's own address or at the caller's, into a batch that was used before.
    pub(crate) fn draw(&mut self, draws: usize, beta: f32, at: Option<u64>) {
        let mut batch = self.batches.remove(&draws).unwrap_or_else(|| self.replay.batch(draws).unwrap());
        let before = batch.clone();
        let result = match at {
            Some(index) => self.replay.sample_proportional_at(index, &mut batch, beta),
            None => self.replay.sample_proportional(&mut batch, beta),
        };
        let expected = match self.model.items().next() {
            None => Err(Error::NoItems),
            Some(_) => self.model.draw(at.unwrap_or(self.model.draws_made), draws, beta),
        };
        match expected {
            Ok(expected) => {
                result.unwrap();
                self.check_batch(&batch, expected);
                if at.is_none() {
                    self.model.draws_made = self.model.draws_made.wrapping_add(draws as u64);
                }
                self.outstanding.push(batch.handles().iter().map(|handle| handle.number()).collect());
            }
            Err(expected) => {
                assert_eq!(format!("{:?}", result.unwrap_err()), format!("{expected:?}"));
                assert_eq!((batch.indices(), batch.handles()), (before.indices(), before.handles()));
                assert_eq!(batch.weights(), before.weights());
                assert_eq!(batch.rows(self.columns.state).unwrap(), before.rows(self.columns.state).unwrap());
                assert_eq!(batch.rows(self.columns.half).unwrap(), before.rows(self.columns.half).unwrap());
            }
        }
        self.batches.insert(draws, batch);
    }

    fn check_batch(&self, batch: &Batch, expected: Expected) {
        let slots: Vec<usize> = batch.indices().iter().map(|&slot| slot as usize).collect();
        assert_eq!(slots, expected.slots);
        let bits = |weights: &[f32]| weights.iter().map(|w| w.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(batch.weights()), bits(&expected.weights));
        for (&w, exact) in batch.weights().iter().zip(expected.exact) {
            // Roundings of the quotient and of the product with N, 2^-24 each, to the power of at most 1; that of the
            // power, 0.505 ulp, 1.01 * 2^-24 at most: 3.01 * 2^-24, and less than a tenth of it for their products.
            assert!((f64::from(w) - exact).abs() <= 3.3 * 2_f64.powi(-24) * exact, "{w} {exact}");
        }
        let drawn: Vec<Item> = slots.iter().map(|&slot| self.model.slots[slot].unwrap()).collect();
        self.check_rows(batch, &drawn);
        assert_eq!((batch.len(), batch.steps(), batch.lengths()), (drawn.len(), 1, &vec![1; drawn.len()][..]));
        assert!(batch.returns().is_empty() && batch.discounts().is_empty() && batch.spans().is_empty());
    }

    fn check_rows(&self, batch: &Batch, drawn: &[Item]) {
        let numbers: Vec<u64> = batch.handles().iter().map(|handle| handle.number()).collect();
        assert_eq!(numbers, drawn.iter().map(|item| item.number).collect::<Vec<_>>());
        let Four { state, half, pixels, action } = self.columns;
        let table = Table::new(&drawn.iter().map(|item| item.tag).collect::<Vec<_>>());
        assert_eq!(batch.rows(state).unwrap(), table.state);
        assert_eq!(batch.rows(half).unwrap(), table.half);
        assert_eq!(batch.rows(pixels).unwrap(), table.pixels);
        assert_eq!(batch.rows(action).unwrap(), table.action);
        let matrix = batch.matrix(pixels).unwrap();
        assert_eq!((matrix.dim(), matrix.to_slice()), ((drawn.len(), 3), Some(&table.pixels[..])));
        assert_eq!(batch.sequence(state).unwrap().dim(), (drawn.len(), 1, 2));
    }

    /// All that can be seen of the replay.
    pub(crate) fn check(&self) {
        let Self { model, replay, .. } = self;
        let items = model.items().count();
        assert_eq!((replay.len(), replay.is_empty(), replay.capacity()), (items, items == 0, model.slots.len()));
        assert_eq!((replay.inserted(), replay.draws_made()), (model.next, model.draws_made));
        assert_eq!(replay.config(), &model.config);
        let (powers, masses, tree) = (model.powers(), model.masses(), model.tree());
        assert!(*replay.powers() == tree);
        assert_eq!(replay.powers().scale(), tree.scale());
        let total: u128 = masses.iter().map(|&m| u128::from(m)).sum();
        assert_eq!(u128::from(replay.powers().total()), total);
        // Rounded once, from u128; the power of two changes nothing.
        assert_eq!(replay.total_priority(), total as f64 * 2_f64.powi(-tree.scale().exponent()));
        let positive = powers.iter().copied().filter(|&p| p > 0.0);
        assert_eq!(replay.min_priority(), positive.reduce(|a, b| if b < a { b } else { a }));
        let positive = model.items().map(|item| item.priority).filter(|&p| p > 0.0);
        assert_eq!(replay.max_priority(), positive.reduce(|a, b| if b > a { b } else { a }));
        for slot in 0..model.slots.len() + 2 {
            let expected = model.slots.get(slot).copied().flatten();
            assert_eq!(replay.handle(slot).map(Handle::number), expected.map(|item| item.number), "slot {slot}");
        }
        let unknown = [model.next, model.next + 1, u64::MAX, model.start.wrapping_sub(1)];
        for number in (model.start..model.next).chain(unknown) {
            let (handle, item) = (Handle::from_number(number), model.item(number));
            let slot = item.map(|item| model.slot_of(item.number));
            assert_eq!((replay.contains(handle), replay.slot(handle)), (item.is_some(), slot), "item {number}");
            let bits = |p: f32| p.to_bits();
            assert_eq!(replay.priority(handle).map(bits), item.map(|item| bits(item.priority)), "item {number}");
            let share = |slot: usize| oracle_ratio(masses[slot], total);
            assert_eq!(replay.probability(handle), slot.and_then(share), "item {number}");
            let (mut row, mut pixel_row) = ([f32::NAN; 2], [9; 3]);
            assert_eq!(replay.read(handle, self.columns.state, &mut row).unwrap(), item.is_some());
            assert_eq!(replay.read(handle, self.columns.pixels, &mut pixel_row).unwrap(), item.is_some());
            match item {
                Some(item) => assert_eq!((row, pixel_row), (state(item.tag), pixels(item.tag))),
                None => assert!(row.iter().all(|x| x.is_nan()) && pixel_row == [9; 3], "nothing is written"),
            }
        }
    }
}

fn oracle_ratio(mass: u64, total: u128) -> Option<f32> {
    (total > 0).then(|| per_core::oracle::ratio(mass, u64::try_from(total).unwrap()))
}

/// Every third of what is returned.
fn spread(values: &[f32]) -> ndarray::Array1<f32> {
    values.iter().flat_map(|&v| [v, f32::NAN, -1.0]).collect()
}
