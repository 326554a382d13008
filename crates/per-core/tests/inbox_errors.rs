//! What actors and learner are told, and that nothing has changed then.

use per_core::replay::{Columns, Config, Episodes, Error, Handle, Inbox, NStep, PrioritizedReplay, Writer};

fn replay(config: Config) -> (PrioritizedReplay, per_core::replay::Column<i32>) {
    let mut columns = Columns::new();
    let step = columns.add("step", 1).unwrap();
    (PrioritizedReplay::new(config, columns).unwrap(), step)
}

fn setting<T>(result: Result<T, Error>) -> (&'static str, f64) {
    match result {
        Err(Error::Setting { name, value, .. }) => (name, value),
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("not refused"),
    }
}

#[test]
fn impossible_inboxes() {
    let (replay, _) = replay(Config::new(10));
    assert_eq!(setting(replay.inbox(0, 5)), ("actors", 0.0));
    assert_eq!(setting(replay.inbox(65_537, 5)), ("actors", 65_537.0));
    assert_eq!(setting(replay.inbox(usize::MAX, 5)), ("actors", usize::MAX as f64));
    assert_eq!(setting(replay.inbox(1, 0)), ("room", 0.0));
    for (actors, room) in [(1, usize::MAX), (2, usize::MAX / 2), (1, 1 << 60), (65_536, 1 << 44), (3, 1 << 58)] {
        let error = replay.inbox(actors, room).err();
        assert!(matches!(error, Some(Error::OutOfMemory { item_bytes: 4, .. })), "{actors} {room}: {error:?}");
    }
    for turn in [0, 6, usize::MAX] {
        assert_eq!(setting(replay.inbox(2, 5).unwrap().0.set_turn(turn)), ("turn", turn as f64));
    }
    let (inbox, writers) = replay.inbox(2, 5).unwrap();
    assert_eq!((inbox.actors(), inbox.room(), inbox.turn()), (2, 5, 1));
    assert_eq!(writers.iter().map(|w| (w.actor(), w.room(), w.free())).collect::<Vec<_>>(), [(0, 5, 5), (1, 5, 5)]);
}

#[test]
fn a_full_ring() {
    let (mut replay, step) = replay(Config::new(10));
    let (mut inbox, mut writers) = replay.inbox(2, 3).unwrap();
    let writer = &mut writers[1];
    writer.push_batch(&[step.rows(&[0, 1])]).unwrap();
    // A batch that doesn't fit as a whole isn't taken in part.
    let error = writer.push_batch(&[step.rows(&[2, 3])]).unwrap_err();
    assert!(matches!(error, Error::InboxFull { actor: 1, items: 2, free: 1, room: 3 }), "{error}");
    writer.push(&[step.rows(&[2])]).unwrap();
    let error = writer.push_with_priority(&[step.rows(&[3])], 1.0).unwrap_err();
    assert!(matches!(error, Error::InboxFull { actor: 1, items: 1, free: 0, room: 3 }), "{error}");
    // More than there can ever be room for is another error: to try again would be in vain.
    let error = writer.push_batch(&[step.rows(&[3, 4, 5, 6])]).unwrap_err();
    assert!(matches!(error, Error::InboxRoom { actor: 1, items: 4, room: 3 }), "{error}");
    // Nothing is a push that always succeeds.
    writer.push_batch(&[step.rows(&[])]).unwrap();
    assert_eq!(inbox.waiting().collect::<Vec<_>>(), [0, 3]);
    assert_eq!(replay.drain(&mut inbox).unwrap().counts(), [0, 3]);
    writer.push_batch(&[step.rows(&[3, 4, 5])]).unwrap();
    assert_eq!(replay.drain(&mut inbox).unwrap().counts(), [0, 3]);
    let mut row = [0];
    for number in 0..6 {
        assert!(replay.read(Handle::from_number(number), step, &mut row).unwrap());
        assert_eq!(row, [number as i32]);
    }
}

#[test]
fn wrong_rows_are_told_to_the_actor() {
    let mut columns = Columns::new();
    let (pair, flag) = (columns.add::<f32>("pair", 2).unwrap(), columns.add::<u8>("flag", 1).unwrap());
    let foreign = Columns::new().add::<f32>("other", 5).unwrap();
    let mut replay = PrioritizedReplay::new(Config::new(10), columns).unwrap();
    let (mut inbox, mut writers) = replay.inbox(1, 3).unwrap();
    let writer = &mut writers[0];
    let (one, two) = (pair.rows(&[1.0, 2.0]), pair.rows(&[1.0, 2.0, 3.0, 4.0]));
    let error = writer.push(std::slice::from_ref(&one)).unwrap_err();
    assert!(matches!(error, Error::ColumnMissing { .. }), "{error}");
    let error = writer.push(&[one.clone(), flag.rows(&[1]), one.clone()]).unwrap_err();
    assert!(matches!(error, Error::ColumnTwice { .. }), "{error}");
    let error = writer.push(&[two.clone(), flag.rows(&[1, 2])]).unwrap_err();
    assert!(matches!(error, Error::RowCount { expected: 1, got: 2, .. }), "{error}");
    let error = writer.push_batch(&[two.clone(), flag.rows(&[1])]).unwrap_err();
    assert!(matches!(error, Error::RowCount { expected: 2, got: 1, .. }), "{error}");
    let error = writer.push(&[pair.rows(&[1.0; 3]), flag.rows(&[1])]).unwrap_err();
    assert!(matches!(error, Error::RowLength { elements: 3, .. }), "{error}");
    let error = writer.push(&[foreign.rows(&[1.0; 5]), flag.rows(&[1])]).unwrap_err();
    assert!(matches!(error, Error::ForeignColumn { .. }), "{error}");
    for bad in [f32::NAN, f32::INFINITY, -1.0, -1e-45] {
        let error = writer.push_with_priority(&[one.clone(), flag.rows(&[1])], bad).unwrap_err();
        assert!(matches!(error, Error::InvalidPriority { position: 0, .. }), "{error}");
        let rows = [two.clone(), flag.rows(&[1, 2])];
        let error = writer.push_batch_with_priorities(&rows, &[1.0, bad]).unwrap_err();
        assert!(matches!(error, Error::InvalidPriority { position: 1, value, .. } if value.to_bits() == bad.to_bits()));
        let error = writer.push_batch_with_priorities(&rows, &[1.0]).unwrap_err();
        assert!(matches!(error, Error::LengthMismatch { expected: 2, got: 1, .. }), "{error}");
    }
    assert_eq!(writer.free(), 3);
    assert!(replay.drain(&mut inbox).unwrap().is_empty());
    assert_eq!(replay.inserted(), 0);
}

#[test]
fn rounds_that_are_not_there() {
    let (mut replay, step) = replay(Config::new(10));
    let (mut inbox, mut writers) = replay.inbox(2, 3).unwrap();
    let mut push = |actor: usize| writers[actor].push(&[step.rows(&[1])]).unwrap();
    for actor in [0, 0, 0, 1] {
        push(actor);
    }
    assert_eq!(inbox.rounds(), 1);
    assert!(replay.drain_rounds(&mut inbox, 2).unwrap().is_none());
    assert_eq!((inbox.waiting().collect::<Vec<_>>(), replay.inserted()), (vec![3, 1], 0));
    assert_eq!(replay.drain_rounds(&mut inbox, 0).unwrap().map(|d| d.len()), Some(0));
    assert_eq!(replay.drain_rounds(&mut inbox, 1).unwrap().map(|d| d.len()), Some(2));
    assert_eq!(inbox.waiting().collect::<Vec<_>>(), [2, 0]);
    assert!(replay.drain_whole_rounds(&mut inbox).unwrap().is_empty());
    for rounds in [4, usize::MAX] {
        assert_eq!(setting(replay.drain_rounds(&mut inbox, rounds)), ("rounds", rounds as f64));
    }
}

#[test]
fn an_actor_that_ends_leaves_its_items() {
    let (mut replay, step) = replay(Config::new(10));
    let (mut inbox, writers) = replay.inbox(2, 3).unwrap();
    let [mut first, mut second] = <[Writer; 2]>::try_from(writers).unwrap();
    first.push_batch(&[step.rows(&[1, 2, 3])]).unwrap();
    assert_eq!(inbox.abandoned().count(), 0);
    // One that panics, in the middle of its work.
    let panicked = std::thread::spawn(move || {
        second.push(&[step.rows(&[9])]).unwrap();
        panic!("an actor that panics: expected in this test");
    });
    assert!(panicked.join().is_err());
    assert_eq!(inbox.abandoned().collect::<Vec<_>>(), [1]);
    let error = replay.drain_rounds(&mut inbox, 2).unwrap_err();
    assert!(matches!(error, Error::ActorGone { actor: 1, expected: 2, got: 1 }), "{error}");
    assert_eq!(replay.inserted(), 0);
    assert_eq!(replay.drain_rounds(&mut inbox, 1).unwrap().map(|d| d.len()), Some(2));
    drop(first);
    assert_eq!(inbox.abandoned().collect::<Vec<_>>(), [0, 1]);
    assert_eq!(replay.drain(&mut inbox).unwrap().counts(), [2, 0]);
    let mut row = [0];
    assert!(replay.read(Handle::from_number(3), step, &mut row).unwrap());
    assert_eq!(row, [3]);
}

#[test]
fn an_inbox_that_is_gone() {
    let (replay, step) = replay(Config::new(10));
    let (inbox, mut writers) = replay.inbox(1, 1).unwrap();
    writers[0].push(&[step.rows(&[1])]).unwrap();
    assert!(!writers[0].is_abandoned());
    drop(inbox);
    assert!(writers[0].is_abandoned());
    // Also where the ring is full: to try again would be in vain.
    let error = writers[0].push(&[step.rows(&[1])]).unwrap_err();
    assert!(matches!(error, Error::InboxGone { actor: 0 }), "{error}");
}

#[test]
fn an_inbox_of_another_replay() {
    let (mut replay, _) = replay(Config::new(10));
    let mut columns = Columns::new();
    let step = columns.add::<i32>("other", 1).unwrap();
    let (mut inbox, mut writers) = Inbox::new(&columns, 1, 1).unwrap();
    writers[0].push(&[step.rows(&[1])]).unwrap();
    assert!(matches!(replay.drain(&mut inbox), Err(Error::ForeignInbox)));
    assert!(matches!(replay.drain_rounds(&mut inbox, 1), Err(Error::ForeignInbox)));
    assert!(matches!(replay.drain_whole_rounds(&mut inbox), Err(Error::ForeignInbox)));
    assert_eq!((replay.inserted(), inbox.rounds()), (0, 1));
    // A replay of the same columns takes what an inbox without a replay holds.
    let mut other = PrioritizedReplay::new(Config::new(2), columns).unwrap();
    assert_eq!(other.drain(&mut inbox).unwrap().len(), 1);
}

/// A priority whose power was finite when it was pushed.
#[test]
fn alpha_that_changes_while_items_wait() {
    let (mut replay, step) = replay(Config::new(10));
    let (mut inbox, mut writers) = replay.inbox(2, 2).unwrap();
    writers[0].push(&[step.rows(&[1])]).unwrap();
    writers[0].push_with_priority(&[step.rows(&[2])], 5.0).unwrap();
    writers[1].push_with_priority(&[step.rows(&[3])], 1e30).unwrap();
    writers[1].push(&[step.rows(&[4])]).unwrap();
    replay.set_alpha(2.0).unwrap();
    let error = replay.drain(&mut inbox).unwrap_err();
    assert!(matches!(error, Error::PriorityOverflow { position: 2, value: 1e30, alpha: 2.0, .. }), "{error}");
    let error = replay.drain_rounds(&mut inbox, 2).unwrap_err();
    assert!(matches!(error, Error::PriorityOverflow { position: 1, value: 1e30, alpha: 2.0, .. }), "{error}");
    assert_eq!((replay.inserted(), inbox.rounds(), replay.total_priority()), (0, 2, 0.0));
    replay.set_alpha(1.0).unwrap();
    assert_eq!(replay.drain(&mut inbox).unwrap().counts(), [2, 2]);
    let priorities = [0, 1, 2, 3].map(|number| replay.priority(Handle::from_number(number)).unwrap());
    assert_eq!(priorities, [1.0, 5.0, 1e30, 1e30]);
}

/// Where items follow each other, an order that breaks that is refused.
#[test]
fn environments_that_are_not_the_rounds() {
    let mut columns = Columns::new();
    let reward = columns.add::<f32>("reward", 1).unwrap();
    let end = columns.add::<u8>("end", 1).unwrap();
    let n_step = Some(NStep { steps: 3, discount: 0.9, reward });
    let episodes = Some(Episodes { terminated: end, truncated: None });
    for config in [Config { n_step, ..Config::new(10) }, Config { episodes, ..Config::new(10) }] {
        for (environments, actors, turn, rounds) in
            [(1, 1, 1, true), (6, 3, 2, true), (3, 3, 1, true), (1, 2, 1, false), (3, 3, 2, false), (4, 1, 1, true)]
        {
            let config = Config { environments, ..config.clone() };
            let mut replay = PrioritizedReplay::new(config, columns.clone()).unwrap();
            let mut inbox = replay.inbox(actors, 4).unwrap().0;
            inbox.set_turn(turn).unwrap();
            if actors > 1 {
                assert_eq!(setting(replay.drain(&mut inbox)), ("environments", environments as f64));
            } else {
                assert!(replay.drain(&mut inbox).unwrap().is_empty());
            }
            if rounds {
                assert!(replay.drain_whole_rounds(&mut inbox).unwrap().is_empty());
                assert!(replay.drain_rounds(&mut inbox, 0).unwrap().is_some());
            } else {
                assert_eq!(setting(replay.drain_whole_rounds(&mut inbox)), ("environments", environments as f64));
                assert_eq!(setting(replay.drain_rounds(&mut inbox, 0)), ("environments", environments as f64));
            }
        }
    }
}

/// A priority whose power has become infinite blocks each drain until it is dropped.
#[test]
fn what_blocks_a_drain_can_be_discarded() {
    let mut columns = Columns::new();
    let x = columns.add::<f32>("x", 1).unwrap();
    let mut replay = PrioritizedReplay::new(Config { alpha: 2.0, ..Config::new(8) }, columns).unwrap();
    let (mut inbox, mut writers) = replay.inbox(2, 4).unwrap();
    writers[0].push_with_priority(&[x.rows(&[1.0])], 1e30).unwrap();
    writers[1].push(&[x.rows(&[2.0])]).unwrap();
    for _ in 0..2 {
        assert!(matches!(replay.drain(&mut inbox), Err(Error::PriorityOverflow { position: 0, .. })));
    }
    assert_eq!((inbox.discard(), inbox.discard()), (2, 0));
    writers[1].push(&[x.rows(&[3.0])]).unwrap();
    let handle = replay.drain(&mut inbox).unwrap().handles(1).next().unwrap();
    let mut row = [0.0];
    assert!(replay.read(handle, x, &mut row).unwrap());
    assert_eq!((row, replay.len()), ([3.0], 1));
    // Environments that take turns are kept apart by rounds alone.
    let mut columns = Columns::new();
    columns.add::<f32>("x", 1).unwrap();
    let mut replay = PrioritizedReplay::new(Config { environments: 2, ..Config::new(8) }, columns).unwrap();
    let (mut inbox, _writers) = replay.inbox(2, 4).unwrap();
    assert!(matches!(replay.drain(&mut inbox), Err(Error::Setting { name: "environments", .. })));
}
