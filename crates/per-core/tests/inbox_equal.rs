//! A replay that was filled through an inbox is the one that inserts of single items give.

use arith::random::Stream;
use per_core::replay::{
    Column, Columns, Config, Draws, Episodes, Error, Handle, Inbox, NStep, NewItems, PrioritizedReplay, Rows, Writer,
};
use std::time::Duration;

/// Fewer items where an interpreter runs them.
const ROUNDS: usize = if cfg!(miri) { 24 } else { 600 };

#[derive(Clone, Copy)]
struct Fields {
    who: Column<i32>,
    reward: Column<f32>,
    image: Column<u8>,
    end: Column<u8>,
}

fn fields() -> (Columns, Fields) {
    let mut columns = Columns::new();
    let who = columns.add("who", 2).unwrap();
    let image = columns.add("image", 7).unwrap();
    let reward = columns.add("reward", 1).unwrap();
    let end = columns.add("end", 1).unwrap();
    (columns, Fields { who, reward, image, end })
}

/// An item of an actor, by its address.
struct Item {
    who: [i32; 2],
    reward: [f32; 1],
    image: [u8; 7],
    end: [u8; 1],
    priority: Option<f32>,
}

/// Which items have a priority of their own.
#[derive(Clone, Copy, Debug)]
enum Kind {
    None,
    All,
    Some,
}

impl Item {
    fn new(kind: Kind, actor: usize, t: usize) -> Self {
        let words = Stream::new(7, actor as u64).block(t as u64);
        let own = match kind {
            Kind::None => false,
            Kind::All => true,
            Kind::Some => words[0] & 3 < 2,
        };
        // Few values, zero among them, so that the largest is often there twice and often leaves.
        let priority = [0.0, 0.5, 0.5, 1.0, 2.0, 3.0, 3.0, 9.0][words[1] as usize % 8];
        Self {
            who: [actor as i32, t as i32],
            reward: [arith::random::uniform(words[2])],
            image: std::array::from_fn(|i| (actor * 31 + t * 7 + i) as u8),
            end: [u8::from(words[3].is_multiple_of(9))],
            priority: own.then_some(priority),
        }
    }

    /// Not in the order of the columns.
    fn rows(&self, fields: Fields) -> [Rows<'_>; 4] {
        [
            fields.image.rows(&self.image),
            fields.end.rows(&self.end),
            fields.who.rows(&self.who),
            fields.reward.rows(&self.reward),
        ]
    }

    fn push(&self, fields: Fields, writer: &mut Writer) -> Result<(), Error> {
        match self.priority {
            Some(priority) => writer.push_with_priority(&self.rows(fields), priority),
            None => writer.push(&self.rows(fields)),
        }
    }

    fn insert(&self, fields: Fields, replay: &mut PrioritizedReplay) -> Handle {
        match self.priority {
            Some(priority) => replay.insert_with_priority(&self.rows(fields), priority).unwrap(),
            None => replay.insert(&self.rows(fields)).unwrap(),
        }
    }
}

/// All that can be seen of two replays is the same.
fn assert_same(one: &PrioritizedReplay, two: &PrioritizedReplay, fields: Fields) {
    assert_eq!((one.len(), one.inserted(), one.draws_made()), (two.len(), two.inserted(), two.draws_made()));
    assert_eq!(one.total_priority().to_bits(), two.total_priority().to_bits());
    assert_eq!((one.min_priority(), one.max_priority()), (two.min_priority(), two.max_priority()));
    for slot in 0..one.capacity() {
        assert_eq!(one.handle(slot), two.handle(slot), "{slot}");
        assert_eq!(one.powers().weight(slot).unwrap(), two.powers().weight(slot).unwrap(), "{slot}");
        let Some(handle) = one.handle(slot) else { continue };
        assert_eq!(one.priority(handle), two.priority(handle), "{slot}");
        let (mut who, mut image, mut reward, mut end) = ([[0; 2]; 2], [[0; 7]; 2], [[0.0]; 2], [[0]; 2]);
        for (i, replay) in [one, two].into_iter().enumerate() {
            assert!(replay.read(handle, fields.who, &mut who[i]).unwrap());
            assert!(replay.read(handle, fields.image, &mut image[i]).unwrap());
            assert!(replay.read(handle, fields.reward, &mut reward[i]).unwrap());
            assert!(replay.read(handle, fields.end, &mut end[i]).unwrap());
        }
        assert_eq!((who[0], image[0], reward[0], end[0]), (who[1], image[1], reward[1], end[1]), "{slot}");
    }
    // What can't be seen, the largest priority ever: it decides on the next item.
    let (mut one, mut two) = (one.clone(), two.clone());
    let item = Item::new(Kind::None, 0, 0);
    let handles = [&mut one, &mut two].map(|replay| item.insert(fields, replay));
    assert_eq!(one.priority(handles[0]), two.priority(handles[1]));
}

/// A batch of both, the same, and new priorities for its items.
fn draw_and_update(one: &mut PrioritizedReplay, two: &mut PrioritizedReplay, fields: Fields) {
    let mut batches = [one.sequences(16, 3).unwrap(), two.sequences(16, 3).unwrap()];
    let draws = [one.sample_proportional(&mut batches[0], 0.5), two.sample_proportional(&mut batches[1], 0.5)];
    let [Ok(()), Ok(())] = draws else {
        // All priorities are zero.
        assert!(draws.iter().all(|draw| matches!(draw, Err(Error::AllZero { .. }))), "{draws:?}");
        return;
    };
    let [first, second] = &batches;
    assert_eq!((first.handles(), first.weights()), (second.handles(), second.weights()));
    assert_eq!((first.returns(), first.lengths()), (second.returns(), second.lengths()));
    assert_eq!(first.rows(fields.who).unwrap(), second.rows(fields.who).unwrap());
    assert_eq!(first.rows(fields.image).unwrap(), second.rows(fields.image).unwrap());
    let td_errors: Vec<f32> = first.rows(fields.reward).unwrap().iter().step_by(3).map(|r| r * 4.0).collect();
    one.update_priorities(first.handles(), &td_errors).unwrap();
    two.update_priorities(second.handles(), &td_errors).unwrap();
}

/// Goes on until there is room, at times after a pause.
fn push_all(mut writer: Writer, kind: Kind, fields: Fields, seed: u64, items: usize) {
    let stream = Stream::new(seed, writer.actor() as u64);
    for t in 0..items {
        let item = Item::new(kind, writer.actor(), t);
        match stream.word(t as u64) % 64 {
            0 => std::thread::sleep(Duration::from_micros(50)),
            1..8 => std::thread::yield_now(),
            _ => {}
        }
        while let Err(error) = item.push(fields, &mut writer) {
            assert!(matches!(error, Error::InboxFull { .. }), "{error}");
            std::thread::yield_now();
        }
    }
}

fn config(capacity: usize, new_items: NewItems, draws: Draws) -> Config {
    Config { new_items, draws, ..Config::new(capacity) }
}

/// Inserts a round, as the inbox promises to: `turn` items of each actor.
fn insert_round(
    replay: &mut PrioritizedReplay,
    kind: Kind,
    fields: Fields,
    actors: usize,
    turn: usize,
    round: usize,
) -> Vec<Vec<Handle>> {
    let insert = |actor, i| Item::new(kind, actor, round * turn + i).insert(fields, replay);
    let mut insert = insert;
    (0..actors).map(|actor| (0..turn).map(|i| insert(actor, i)).collect()).collect()
}

#[test]
fn rounds_from_threads_are_inserts_by_turns() {
    const ACTORS: usize = 3;
    let cases = [
        (Kind::None, NewItems::LargestNow, 100, 1),
        (Kind::All, NewItems::LargestEver, 257, 2),
        (Kind::Some, NewItems::LargestNow, 61, 1),
        (Kind::Some, NewItems::LargestEver, 5000, 3),
    ];
    for (seed, (kind, new_items, capacity, turn)) in (0..).zip(cases) {
        let (columns, fields) = fields();
        let config = Config {
            environments: ACTORS * turn,
            episodes: Some(Episodes { terminated: fields.end, truncated: None }),
            n_step: Some(NStep { steps: 3, discount: 0.9, reward: fields.reward }),
            ..config(capacity, new_items, Draws::Stratified)
        };
        let mut replay = PrioritizedReplay::new(config, columns).unwrap();
        let mut serial = replay.clone();
        let (inbox, writers) = replay.inbox(ACTORS, 16 * turn).unwrap();
        std::thread::scope(|threads| {
            // Dropped where an assertion fails, so that the actors don't wait for ever.
            let mut inbox = inbox;
            inbox.set_turn(turn).unwrap();
            for writer in writers {
                threads.spawn(move || push_all(writer, kind, fields, seed, ROUNDS * turn));
            }
            let mut round = 0;
            for step in 0.. {
                let rounds = (Stream::new(seed, 99).word(step) as usize % 16 + 1).min(ROUNDS - round);
                if rounds == 0 {
                    break;
                }
                let taken = loop {
                    match replay.drain_rounds(&mut inbox, rounds).unwrap() {
                        Some(drained) => break (0..ACTORS).map(|a| drained.handles(a).collect()).collect(),
                        None => std::thread::yield_now(),
                    }
                };
                let mut expected = vec![Vec::new(); ACTORS];
                for round in round..round + rounds {
                    let handles = insert_round(&mut serial, kind, fields, ACTORS, turn, round);
                    expected.iter_mut().zip(handles).for_each(|(all, handles)| all.extend(handles));
                }
                let taken: Vec<Vec<Handle>> = taken;
                assert_eq!(taken, expected);
                round += rounds;
                draw_and_update(&mut replay, &mut serial, fields);
            }
            assert_same(&replay, &serial, fields);
            assert_eq!(inbox.waiting().sum::<usize>(), 0);
        });
    }
}

#[test]
fn however_many_rounds_are_taken_at_a_time() {
    const ACTORS: usize = 4;
    for (seed, kind) in (10..).zip([Kind::None, Kind::All, Kind::Some]) {
        let (columns, fields) = fields();
        let config = config(50, NewItems::LargestNow, Draws::Independent);
        let mut replay = PrioritizedReplay::new(config, columns).unwrap();
        let mut serial = replay.clone();
        let (inbox, writers) = replay.inbox(ACTORS, 64).unwrap();
        std::thread::scope(|threads| {
            let mut inbox = inbox;
            for writer in writers {
                threads.spawn(move || push_all(writer, kind, fields, seed, ROUNDS));
            }
            let mut taken = 0;
            while taken < ROUNDS * ACTORS {
                taken += replay.drain_whole_rounds(&mut inbox).unwrap().len();
                std::thread::yield_now();
            }
        });
        for round in 0..ROUNDS {
            insert_round(&mut serial, kind, fields, ACTORS, 1, round);
        }
        assert_same(&replay, &serial, fields);
        draw_and_update(&mut replay, &mut serial, fields);
    }
}

/// Fills the rings with `items(actor)` of each and drains them, here in one thread.
fn drain_once(replay: &mut PrioritizedReplay, inbox: &mut Inbox, expected: &[Vec<Handle>]) {
    let before = replay.inserted();
    let drained = replay.drain(inbox).unwrap();
    let counts: Vec<usize> = expected.iter().map(Vec::len).collect();
    assert_eq!((drained.counts(), drained.len()), (counts.as_slice(), counts.iter().sum()));
    for (actor, handles) in expected.iter().enumerate() {
        assert_eq!(drained.handles(actor).len(), handles.len());
        assert_eq!(drained.handles(actor).collect::<Vec<_>>(), *handles);
    }
    assert_eq!(drained.handles(expected.len()).len(), 0);
    assert_eq!(drained.is_empty(), replay.inserted() == before);
}

/// Rings smaller and larger than a drain; more items than are inserted together, and than the ring's first wrap.
#[test]
fn a_drain_is_inserts_actor_by_actor() {
    let large = if cfg!(miri) { 50 } else { 9001 };
    let cases = [(1, 3), (2, 7), (3, 3), (5, 4), (8, 40), (61, 100), (4096, large), (10_000, large)];
    for (seed, (capacity, most)) in (20..).zip(cases) {
        for kind in [Kind::None, Kind::All, Kind::Some] {
            for new_items in [NewItems::LargestNow, NewItems::LargestEver] {
                let (columns, fields) = fields();
                let config = config(capacity, new_items, Draws::Independent);
                let mut replay = PrioritizedReplay::new(config, columns).unwrap();
                let mut serial = replay.clone();
                let (mut inbox, mut writers) = replay.inbox(3, most).unwrap();
                let mut pushed = [0; 3];
                let stream = Stream::new(seed, 5);
                for drain in 0..4 {
                    let mut expected = vec![Vec::new(); 3];
                    for (actor, writer) in writers.iter_mut().enumerate() {
                        // As many as there is room for, or few, or none.
                        let draw = stream.word(drain * 3 + actor as u64) as usize;
                        let n = if draw.is_multiple_of(3) { most } else { draw % most };
                        for t in pushed[actor]..pushed[actor] + n {
                            let item = Item::new(kind, actor, t);
                            item.push(fields, writer).unwrap();
                            expected[actor].push(item.insert(fields, &mut serial));
                        }
                        pushed[actor] += n;
                    }
                    drain_once(&mut replay, &mut inbox, &expected);
                    assert_same(&replay, &serial, fields);
                    draw_and_update(&mut replay, &mut serial, fields);
                    if let Some(handle) = replay.handle(drain as usize % capacity) {
                        assert_eq!(replay.remove(&[handle]).unwrap(), serial.remove(&[handle]).unwrap());
                    }
                }
            }
        }
    }
}

/// Batches of all sizes, more than are packed together among them, flat and strided.
#[test]
fn a_batch_is_its_items() {
    let room = if cfg!(miri) { 40 } else { 3000 };
    let (columns, fields) = fields();
    let mut replay = PrioritizedReplay::new(Config::new(700), columns).unwrap();
    let mut serial = replay.clone();
    let (mut inbox, mut writers) = replay.inbox(1, room).unwrap();
    let mut t = 0;
    for n in [0, 1, 2, 33, room / 3, room] {
        let items: Vec<Item> = (t..t + n).map(|t| Item::new(Kind::All, 0, t)).collect();
        t += n;
        let who: Vec<i32> = items.iter().flat_map(|item| item.who).collect();
        let image: Vec<u8> = items.iter().flat_map(|item| item.image).collect();
        let end: Vec<u8> = items.iter().flat_map(|item| item.end).collect();
        // Every second element.
        let reward: Vec<f32> = items.iter().flat_map(|item| [item.reward[0], f32::NAN]).collect();
        let reward = ndarray::ArrayView2::from_shape((n, 2), &reward).unwrap();
        let reward = reward.slice(ndarray::s![.., ..1]);
        let priorities: Vec<f32> = items.iter().flat_map(|item| [item.priority.unwrap(), f32::NAN]).collect();
        let priorities = ndarray::ArrayView1::from(&priorities);
        let priorities = priorities.slice(ndarray::s![..;2]);
        let rows =
            [fields.end.rows(&end), fields.who.rows(&who), fields.image.rows(&image), fields.reward.view(reward)];
        writers[0].push_batch_with_priorities(&rows, priorities).unwrap();
        let expected: Vec<Handle> = items.iter().map(|item| item.insert(fields, &mut serial)).collect();
        drain_once(&mut replay, &mut inbox, &[expected]);
        assert_same(&replay, &serial, fields);
    }
}

#[test]
fn items_without_columns() {
    let mut replay = PrioritizedReplay::new(Config::new(3), Columns::new()).unwrap();
    let (mut inbox, mut writers) = replay.inbox(2, 2).unwrap();
    writers[1].push_with_priority(&[], 4.0).unwrap();
    writers[1].push(&[]).unwrap();
    assert!(matches!(writers[1].push(&[]), Err(Error::InboxFull { .. })));
    assert_eq!(replay.drain(&mut inbox).unwrap().counts(), [0, 2]);
    let priorities = [0, 1].map(|number| replay.priority(Handle::from_number(number)));
    assert_eq!(priorities, [Some(4.0), Some(4.0)]);
}
