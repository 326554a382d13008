//! The learner's side: from the rings into the replay.

use super::{Inbox, Ring, UNSET};
use crate::replay::PrioritizedReplay;
use crate::replay::error::Error;
use crate::replay::handle::Handle;
use crate::replay::insert::Priorities;
use crate::replay::power::power;
use rtrb::Consumer;
use std::mem::swap;

/// The most items that are inserted together: their priorities stay in the cache.
const PIECE: usize = 4096;

/// What a drain took.
#[derive(Clone, Debug)]
pub struct Drained<'a> {
    /// Number of the first item.
    first: u64,
    /// Items of each actor.
    counts: &'a [usize],
    /// Items of an actor that follow each other before the next actor's, in rounds.
    turn: Option<usize>,
}

impl Drained<'_> {
    /// Number of items.
    pub fn len(&self) -> usize {
        self.counts.iter().sum()
    }

    /// Whether there were none.
    pub fn is_empty(&self) -> bool {
        self.counts.iter().all(|&count| count == 0)
    }

    /// Items of each actor.
    pub fn counts(&self) -> &[usize] {
        self.counts
    }

    /// The handles of an actor's items, in the order in which it pushed them. None for an actor that there isn't.
    pub fn handles(&self, actor: usize) -> impl ExactSizeIterator<Item = Handle> + use<> {
        let count = self.counts.get(actor).copied().unwrap_or(0);
        let before: usize = self.counts.iter().take(actor).sum();
        // Items follow each other in groups, which lie `stride` apart.
        let (first, group, stride) = match self.turn {
            None => (self.first + before as u64, count.max(1), 0),
            Some(turn) => (self.first + (actor.min(self.counts.len()) * turn) as u64, turn, turn * self.counts.len()),
        };
        (0..count).map(move |i| Handle(first + (i / group * stride + i % group) as u64))
    }
}

impl PrioritizedReplay {
    /// Inserts all items that wait: those of actor 0, then those of actor 1, and so on.
    ///
    /// # Errors
    /// [`Error::ForeignInbox`]; [`Error::PriorityOverflow`] where alpha has made the power of a priority infinite (`position`:
    /// in the order of the drain); [`Error::Setting`] where there are several actors and items follow each other
    /// ([`n_step`](crate::replay::Config::n_step), [`episodes`](crate::replay::Config::episodes)), for which
    /// [`drain_rounds`](Self::drain_rounds) is. Then all wait as before.
    pub fn drain<'a>(&mut self, inbox: &'a mut Inbox) -> Result<Drained<'a>, Error> {
        self.check_inbox(inbox, None)?;
        for (count, ring) in inbox.counts.iter_mut().zip(&inbox.rings) {
            *count = ring.priorities.slots();
        }
        self.take("PrioritizedReplay::drain", inbox, None)
    }

    /// Inserts `rounds` rounds, each of one item of each actor ([`Inbox::set_turn`]: of so many of each), in the order of
    /// the actors. None if some actor has too few as yet; then nothing was taken.
    ///
    /// # Errors
    /// [`Error::ActorGone`] where some actor has too few and pushes no more; [`Error::Setting`] where an actor has no room
    /// for so many rounds, or where items follow each other ([`n_step`](crate::replay::Config::n_step),
    /// [`episodes`](crate::replay::Config::episodes)), but [`environments`](crate::replay::Config::environments) aren't the
    /// items of a round; [`Error::ForeignInbox`], [`Error::PriorityOverflow`]. Then nothing was taken.
    pub fn drain_rounds<'a>(&mut self, inbox: &'a mut Inbox, rounds: usize) -> Result<Option<Drained<'a>>, Error> {
        self.check_inbox(inbox, Some(inbox.turn))?;
        let expected = rounds.checked_mul(inbox.turn).filter(|&n| n <= inbox.room);
        let Some(expected) = expected else {
            let reason = "an actor has no room for so many";
            return Err(Error::Setting { name: "rounds", value: rounds as f64, reason });
        };
        let mut all = true;
        for (actor, ring) in inbox.rings.iter().enumerate() {
            // Before the count: what an actor pushed before it left is then counted.
            let gone = ring.priorities.is_abandoned();
            let got = ring.priorities.slots();
            if gone && got < expected {
                return Err(Error::ActorGone { actor, expected, got });
            }
            all &= got >= expected;
        }
        if !all {
            return Ok(None);
        }
        inbox.counts.fill(expected);
        self.take("PrioritizedReplay::drain_rounds", inbox, Some(inbox.turn)).map(Some)
    }

    /// Inserts as many rounds as wait ([`Inbox::rounds`]), which may be none, as [`drain_rounds`](Self::drain_rounds) does.
    ///
    /// # Errors
    /// Those of [`drain_rounds`](Self::drain_rounds) that don't say that an actor has too few.
    pub fn drain_whole_rounds<'a>(&mut self, inbox: &'a mut Inbox) -> Result<Drained<'a>, Error> {
        self.check_inbox(inbox, Some(inbox.turn))?;
        let count = inbox.rounds() * inbox.turn;
        inbox.counts.fill(count);
        self.take("PrioritizedReplay::drain_whole_rounds", inbox, Some(inbox.turn))
    }

    /// That the inbox is one for this replay, and that a drain in rounds of `turn` items of an actor, or else actor by
    /// actor, keeps items of an environment as far apart as the settings say.
    fn check_inbox(&self, inbox: &Inbox, turn: Option<usize>) -> Result<(), Error> {
        if inbox.columns != self.columns {
            return Err(Error::ForeignInbox);
        }
        let (actors, environments) = (inbox.actors(), self.config.environments);
        let follows = self.config.episodes.is_some() || self.config.n_step.is_some() || environments > 1;
        // A single actor's items are inserted in the order in which it pushes them.
        if !follows || actors == 1 || turn.is_some_and(|turn| actors.checked_mul(turn) == Some(environments)) {
            return Ok(());
        }
        let reason = match turn {
            Some(_) => "must be the items of a round, as items follow each other",
            None => "items follow each other, which several actors keep only in rounds",
        };
        Err(Error::Setting { name: "environments", value: environments as f64, reason })
    }

    /// Inserts as many items of each actor as `inbox.counts` says.
    fn take<'a>(
        &mut self,
        operation: &'static str,
        inbox: &'a mut Inbox,
        turn: Option<usize>,
    ) -> Result<Drained<'a>, Error> {
        self.check_numbers(inbox.counts.iter().sum())?;
        let Inbox { rings, counts, raw, powers, .. } = inbox;
        look_at_priorities(rings, counts, turn, raw);
        // All that can fail, before anything is taken. Items without a priority (below 0) have the power 0 here.
        swap(&mut self.scratch.raw, raw);
        swap(&mut self.scratch.powers, powers);
        let raised = self.raise(operation);
        swap(&mut self.scratch.raw, raw);
        swap(&mut self.scratch.powers, powers);
        raised?;

        let first = self.window.next;
        match turn {
            Some(turn) => self.insert_turns(rings, turn, raw, powers),
            None => {
                let mut start = 0;
                for (ring, &count) in rings.iter_mut().zip(counts.iter()) {
                    let end = start + count;
                    self.insert_turns(std::slice::from_mut(ring), count, &raw[start..end], &powers[start..end]);
                    start = end;
                }
            }
        }
        for (ring, &count) in rings.iter_mut().zip(counts.iter()) {
            match ring.priorities.read_chunk(count) {
                Ok(chunk) => chunk.commit_all(),
                Err(error) => unreachable!("they were counted: {error}"),
            }
        }
        Ok(Drained { first, counts, turn })
    }

    /// Inserts `raw.len()` items of `rings`, `turn` of each by turns.
    fn insert_turns(&mut self, rings: &mut [Ring], turn: usize, raw: &[f32], powers: &[f32]) {
        // Not more than the ring holds: none is overwritten by one of the same piece.
        let piece = PIECE.min(self.config.capacity);
        let mut at = 0;
        let is_unset = |priority: &f32| *priority == UNSET;
        for run in raw.chunk_by(|a, b| is_unset(a) == is_unset(b)) {
            for items in run.chunks(piece) {
                let mut from = at;
                at += items.len();
                if is_unset(&items[0]) {
                    // The first item gets the largest priority beside it. If that is now the largest of all, then it is
                    // that of the next items too: at least one of those that have it stays beside each.
                    let slot = self.window.cursor;
                    self.insert_taken(rings, turn, from, 1, Priorities::Default);
                    from += 1;
                    let priority = self.raw_at(slot);
                    let power = power(priority, self.config.alpha);
                    self.stage(|raw, powers| {
                        raw.resize(at - from, priority);
                        powers.resize(at - from, power);
                    });
                } else {
                    self.stage(|out, out_powers| {
                        out.extend_from_slice(items);
                        out_powers.extend_from_slice(&powers[from..at]);
                    });
                }
                self.insert_taken(rings, turn, from, at - from, Priorities::Staged);
            }
        }
    }

    /// Puts priorities and their powers into the scratch.
    fn stage(&mut self, fill: impl FnOnce(&mut Vec<f32>, &mut Vec<f32>)) {
        self.scratch.raw.clear();
        self.scratch.powers.clear();
        fill(&mut self.scratch.raw, &mut self.scratch.powers);
    }

    /// Inserts the items `first..first + n` of the turns, at most as many as the ring holds.
    fn insert_taken(&mut self, rings: &mut [Ring], turn: usize, first: usize, n: usize, priorities: Priorities) {
        self.insert_records(n, priorities, |records, run| {
            let stride = records.stride();
            let mut out = records.run_mut(run);
            let mut at = first + run.row;
            let end = at + run.len;
            while at < end {
                let items = (turn - at % turn).min(end - at);
                let (now, later) = out.split_at_mut(items * stride);
                pop(&mut rings[at / turn % rings.len()].records, now);
                out = later;
                at += items;
            }
        });
    }
}

/// Copies the priorities of the items to take, in their order, and leaves them where they are.
fn look_at_priorities(rings: &mut [Ring], counts: &[usize], turn: Option<usize>, raw: &mut Vec<f32>) {
    let actors = rings.len();
    raw.clear();
    raw.resize(counts.iter().sum(), UNSET);
    let mut before = 0;
    for (actor, (ring, &count)) in rings.iter_mut().zip(counts).enumerate() {
        let chunk = match ring.priorities.read_chunk(count) {
            Ok(chunk) => chunk,
            Err(error) => unreachable!("they were counted: {error}"),
        };
        let (one, two) = chunk.as_slices();
        match turn {
            Some(turn) => {
                let turns = raw.chunks_exact_mut(turn).skip(actor).step_by(actors);
                for (out, &priority) in turns.flatten().zip(one.iter().chain(two)) {
                    *out = priority;
                }
            }
            None => {
                raw[before..before + one.len()].copy_from_slice(one);
                raw[before + one.len()..before + count].copy_from_slice(two);
            }
        }
        before += count;
    }
}

/// Takes records that are there: they were written before their priorities were.
fn pop(ring: &mut Consumer<u8>, out: &mut [u8]) {
    if let Err(error) = ring.pop_entire_slice(out) {
        unreachable!("records are there before their priorities: {error}");
    }
}
