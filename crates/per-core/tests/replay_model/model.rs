//! What a replay is, by its definition: a plain vector of items, a number for the next one, and sums anew each time.

use arith::random::Stream;
use per_core::replay::{AllZero, Config, Draws, Error, NewItems, Weights};
use per_core::{DistinctScratch, SumTree, oracle};

/// An item: all its rows are functions of `tag`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Item {
    pub(crate) number: u64,
    pub(crate) priority: f32,
    pub(crate) tag: u32,
}

/// Why priorities are refused: at this position there is this value, whose power is infinite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Overflow {
    pub(crate) position: usize,
    pub(crate) value: f32,
}

/// What a draw gives.
#[derive(Clone, Debug)]
pub(crate) struct Expected {
    pub(crate) slots: Vec<usize>,
    pub(crate) weights: Vec<f32>,
    /// By the formula in f64.
    pub(crate) exact: Vec<f64>,
}

#[derive(Clone, Debug)]
pub(crate) struct Model {
    pub(crate) config: Config,
    pub(crate) slots: Vec<Option<Item>>,
    pub(crate) start: u64,
    pub(crate) next: u64,
    pub(crate) draws_made: u64,
    pub(crate) largest_ever: f32,
}

impl Model {
    pub(crate) fn new(config: Config, start: u64) -> Self {
        Self { slots: vec![None; config.capacity], config, start, next: start, draws_made: 0, largest_ever: 0.0 }
    }

    pub(crate) fn items(&self) -> impl Iterator<Item = &Item> {
        self.slots.iter().flatten()
    }

    pub(crate) fn slot_of(&self, number: u64) -> usize {
        usize::try_from(number % self.slots.len() as u64).unwrap()
    }

    /// The item of this number, if it is there.
    pub(crate) fn item(&self, number: u64) -> Option<&Item> {
        self.slots[self.slot_of(number)].as_ref().filter(|item| item.number == number)
    }

    fn power(&self, priority: f32) -> f32 {
        let power = arith::powf(priority, self.config.alpha);
        if priority > 0.0 && power == 0.0 { f32::from_bits(1) } else { power }
    }

    /// That all priorities can be.
    pub(crate) fn check_powers(&self, priorities: &[f32]) -> Result<(), Overflow> {
        let infinite = |&p: &f32| p == f32::INFINITY || self.power(p) == f32::INFINITY;
        match priorities.iter().position(infinite) {
            Some(position) => Err(Overflow { position, value: priorities[position] }),
            None => Ok(()),
        }
    }

    /// The priority of `n` new items that come without one.
    fn default_priority(&self, n: usize) -> f32 {
        let largest = match self.config.new_items {
            NewItems::LargestEver => self.largest_ever,
            NewItems::LargestNow => {
                // What stays in the buffer when all n are there.
                let first = self.next + n as u64;
                let stays = |item: &&Item| first - item.number <= self.slots.len() as u64;
                self.items().filter(stays).fold(0.0, |a, item| f32::max(a, item.priority))
            }
            other => panic!("{other:?}"),
        };
        if largest > 0.0 { largest } else { 1.0 }
    }

    pub(crate) fn insert(&mut self, tags: &[u32], priorities: Option<&[f32]>) {
        let default = self.default_priority(tags.len());
        for (i, &tag) in tags.iter().enumerate() {
            let priority = priorities.map_or(default, |p| p[i]);
            self.largest_ever = self.largest_ever.max(priority);
            let slot = self.slot_of(self.next);
            self.slots[slot] = Some(Item { number: self.next, priority, tag });
            self.next += 1;
        }
    }

    /// Applied and stale.
    pub(crate) fn set(&mut self, numbers: &[u64], priorities: &[f32]) -> (usize, usize) {
        let mut applied = 0;
        for (&number, &priority) in numbers.iter().zip(priorities) {
            let slot = self.slot_of(number);
            if let Some(item) = self.slots[slot].as_mut().filter(|item| item.number == number) {
                item.priority = priority;
                self.largest_ever = self.largest_ever.max(priority);
                applied += 1;
            }
        }
        (applied, numbers.len() - applied)
    }

    pub(crate) fn remove(&mut self, numbers: &[u64]) -> (usize, usize) {
        let mut applied = 0;
        for &number in numbers {
            let slot = self.slot_of(number);
            applied += usize::from(self.slots[slot].take_if(|item| item.number == number).is_some());
        }
        (applied, numbers.len() - applied)
    }

    pub(crate) fn powers(&self) -> Vec<f32> {
        self.slots.iter().map(|item| item.map_or(0.0, |item| self.power(item.priority))).collect()
    }

    /// A tree that never had other powers.
    pub(crate) fn tree(&self) -> SumTree {
        let mut tree = SumTree::new(self.slots.len()).unwrap();
        tree.rebuild(&self.powers()).unwrap();
        tree
    }

    /// The powers as integers.
    pub(crate) fn masses(&self) -> Vec<u64> {
        let exponent = self.tree().scale().exponent();
        self.powers().iter().map(|&p| u64::try_from(oracle::quantize(p, exponent)).unwrap()).collect()
    }

    /// What `draws` draws from address `index` on give.
    pub(crate) fn draw(&self, index: u64, draws: usize, beta: f32) -> Result<Expected, Error> {
        let (tree, stream) = (self.tree(), Stream::new(self.config.seed, self.config.stream));
        if tree.total() == 0 && self.config.all_zero == AllZero::Error {
            return Err(Error::AllZero { items: self.items().count() });
        }
        if tree.total() == 0 {
            let slots = self.draw_uniformly(&stream, index, draws)?;
            return Ok(Expected { slots, weights: vec![1.0; draws], exact: vec![1.0; draws] });
        }
        let positive = self.powers().iter().filter(|&&p| p > 0.0).count();
        if self.config.draws == Draws::Distinct && draws > positive {
            return Err(Error::TooFewItems { draws, items: positive });
        }
        let mut leaves = vec![0; draws];
        match self.config.draws {
            Draws::Independent => tree.sample(&stream, index, &mut leaves).unwrap(),
            Draws::Stratified => tree.sample_stratified(&stream, index, &mut leaves).unwrap(),
            Draws::Distinct => {
                tree.sample_distinct(&stream, index, &mut DistinctScratch::default(), &mut leaves).unwrap();
            }
            other => panic!("{other:?}"),
        }
        let slots: Vec<usize> = leaves.iter().map(|&leaf| leaf as usize).collect();
        let masses = self.masses();
        let total: u64 = masses.iter().sum();
        let drawn: Vec<u64> = slots.iter().map(|&slot| masses[slot]).collect();
        let present = self.items().count() as f32;
        let least = match self.config.weights {
            Weights::OverBuffer => masses.into_iter().filter(|&m| m > 0).min(),
            Weights::OverBatch => drawn.iter().copied().min(),
            _ => None,
        };
        let weight = |&mass: &u64| match least {
            Some(least) => arith::powf(oracle::ratio(least, mass), beta),
            None => arith::powf(present * oracle::ratio(mass, total), -beta),
        };
        let exact = |&mass: &u64| match least {
            Some(least) => (least as f64 / mass as f64).powf(beta.into()),
            None => (f64::from(present) * (mass as f64 / total as f64)).powf(-f64::from(beta)),
        };
        let (weights, exact) = (drawn.iter().map(weight).collect(), drawn.iter().map(exact).collect());
        Ok(Expected { slots, weights, exact })
    }

    /// Draws as from equal weights, one for each item, in the order of the slots.
    fn draw_uniformly(&self, stream: &Stream, index: u64, draws: usize) -> Result<Vec<usize>, Error> {
        let mut there: Vec<usize> = (0..self.slots.len()).filter(|&slot| self.slots[slot].is_some()).collect();
        let items = there.len();
        if self.config.draws == Draws::Distinct && draws > items {
            return Err(Error::TooFewItems { draws, items });
        }
        let place = |j: usize, stratum: u32, strata: usize, of: usize| {
            let block = stream.block(index.wrapping_add(j as u64));
            oracle::threshold(block, stratum, u32::try_from(strata).unwrap(), of as u64) as usize
        };
        let draw = |j: usize| match self.config.draws {
            Draws::Independent => there[place(j, 0, 1, items)],
            Draws::Stratified => there[place(j, j as u32, draws, items)],
            _ => {
                // A hand of cards: the next one goes to the front.
                let chosen = j + place(j, 0, 1, items - j);
                there.swap(j, chosen);
                there[j]
            }
        };
        Ok((0..draws).map(draw).collect())
    }
}
