//! Actors that push without pause while a learner drains, draws and updates: no row is torn, none is lost, none comes
//! twice or out of order. The test of choice for a race detector.

use arith::random::Stream;
use per_core::replay::{Column, Columns, Config, Draws, Error, Handle, PrioritizedReplay, Writer};
use std::collections::VecDeque;

const ACTORS: usize = 6;

/// Items of an actor: fewer under slow checkers, which set `INBOX_ITEMS`.
fn items() -> usize {
    if cfg!(miri) {
        return 60;
    }
    std::env::var("INBOX_ITEMS").map_or(100_000, |items| items.parse().expect("INBOX_ITEMS is a number"))
}

#[derive(Clone, Copy)]
struct Fields {
    who: Column<i32>,
    payload: Column<i32>,
    check: Column<u8>,
}

/// Every element depends on actor, number and place: a mixture of two rows can't be right.
fn payload<const WIDTH: usize>(actor: i32, t: i32) -> [i32; WIDTH] {
    let key = (actor as u32).wrapping_mul(0x9e37_79b9) ^ (t as u32).wrapping_mul(0x85eb_ca6b);
    std::array::from_fn(|i| (key.wrapping_add(i as u32).wrapping_mul(0xc2b2_ae35)).rotate_left(13) as i32)
}

fn check(who: &[i32], payload: &[i32]) -> [u8; 3] {
    let sum = who.iter().chain(payload).fold(17_u32, |sum, &x| sum.wrapping_mul(31).wrapping_add(x as u32));
    [sum as u8, (sum >> 8) as u8, (sum >> 16) as u8]
}

/// Of an item that comes with one.
fn priority(t: usize) -> f32 {
    (t % 7) as f32 + 0.5
}

fn push_all<const WIDTH: usize>(mut writer: Writer, fields: Fields, items: usize) {
    let actor = writer.actor() as i32;
    let mut t = 0;
    while t < items {
        // Single ones, with and without a priority, and batches.
        let n = if t % 5 == 0 { (t % 13 + 1).min(items - t).min(writer.room()) } else { 1 };
        let own = t % 3 == 0;
        let who: Vec<i32> = (t..t + n).flat_map(|t| [actor, t as i32, own.into()]).collect();
        let priorities: Vec<f32> = (t..t + n).map(priority).collect();
        let rows: Vec<i32> = (t..t + n).flat_map(|t| payload::<WIDTH>(actor, t as i32)).collect();
        let checks: Vec<u8> =
            who.chunks(3).zip(rows.chunks(WIDTH)).flat_map(|(who, payload)| check(who, payload)).collect();
        let rows = [fields.check.rows(&checks), fields.payload.rows(&rows), fields.who.rows(&who)];
        loop {
            let pushed =
                if own { writer.push_batch_with_priorities(&rows, &priorities) } else { writer.push_batch(&rows) };
            match pushed {
                Ok(()) => break,
                Err(Error::InboxFull { .. }) => std::thread::yield_now(),
                Err(error) => panic!("{error}"),
            }
        }
        t += n;
    }
}

/// Rows of a line of memory or two.
#[test]
fn no_row_is_torn_lost_or_doubled() {
    stress::<19>(items(), 100);
}

/// Rows of 64 KiB: a push takes longer than the learner needs from the count of items to the first copy.
#[test]
fn no_large_row_is_taken_before_it_is_there() {
    stress::<{ 1 << 14 }>(items() / 200, 4);
}

fn stress<const WIDTH: usize>(items: usize, room: usize) {
    // Of four drains, so that half of what a batch drew is there two drains later; much smaller than what comes.
    let capacity = 4 * ACTORS * room;
    let mut columns = Columns::new();
    let who = columns.add("who", 3).unwrap();
    let payload_rows = columns.add("payload", WIDTH).unwrap();
    let check_rows = columns.add("check", 3).unwrap();
    let fields = Fields { who, payload: payload_rows, check: check_rows };
    let config = Config { draws: Draws::Stratified, ..Config::new(capacity) };
    let mut replay = PrioritizedReplay::new(config, columns).unwrap();
    let (inbox, writers) = replay.inbox(ACTORS, room).unwrap();

    std::thread::scope(|threads| {
        for writer in writers {
            threads.spawn(move || push_all::<WIDTH>(writer, fields, items));
        }
        // Dropped where an assertion fails, so that the actors don't wait for ever.
        let mut inbox = inbox;
        let mut next = [0; ACTORS];
        let mut batch = replay.batch(32).unwrap();
        let mut late: VecDeque<(Vec<Handle>, Vec<f32>)> = VecDeque::new();
        let (mut applied, mut stale) = (0, 0);
        while next != [items; ACTORS] {
            let drained = replay.drain(&mut inbox).unwrap();
            let empty = drained.is_empty();
            for (actor, next) in next.iter_mut().enumerate() {
                for handle in drained.handles(actor) {
                    let (mut who, mut row, mut sum) = ([0; 3], [0; WIDTH], [0; 3]);
                    assert!(replay.read(handle, fields.who, &mut who).unwrap());
                    assert!(replay.read(handle, fields.payload, &mut row).unwrap());
                    assert!(replay.read(handle, fields.check, &mut sum).unwrap());
                    assert_eq!(who[..2], [actor as i32, *next as i32]);
                    assert_eq!(row, payload::<WIDTH>(who[0], who[1]), "{who:?}");
                    assert_eq!(sum, check(&who, &row), "{who:?}");
                    if who[2] == 1 {
                        assert_eq!(replay.priority(handle), Some(priority(*next)));
                    }
                    *next += 1;
                }
            }
            if replay.is_empty() || empty {
                std::thread::yield_now();
                continue;
            }
            replay.sample_proportional(&mut batch, 0.4).unwrap();
            let rows = batch.rows(fields.payload).unwrap().chunks(WIDTH);
            let all =
                batch.rows(fields.who).unwrap().chunks(3).zip(rows).zip(batch.rows(fields.check).unwrap().chunks(3));
            for ((who, row), sum) in all {
                assert_eq!(row, payload::<WIDTH>(who[0], who[1]), "{who:?}");
                assert_eq!(sum, check(who, row), "{who:?}");
            }
            // Priorities come two batches late: some items are gone by then.
            let stream = Stream::new(3, replay.draws_made());
            late.push_back((batch.handles().to_vec(), (0..32).map(|i| stream.uniform(i) * 5.0).collect()));
            if late.len() > 2 {
                let (handles, td_errors) = late.pop_front().unwrap();
                let there = handles.iter().filter(|handle| replay.contains(**handle)).count();
                let outcome = replay.update_priorities(&handles, &td_errors).unwrap();
                assert_eq!((outcome.applied, outcome.stale), (there, 32 - there));
                (applied, stale) = (applied + outcome.applied, stale + outcome.stale);
            }
        }
        assert!(applied > 0 || items < 100);
        println!("{} batches, {applied} priorities set, {stale} came too late", replay.draws_made() / 32);
        // Nothing comes after the last one.
        while inbox.abandoned().count() < ACTORS {
            std::thread::yield_now();
        }
        assert!(replay.drain(&mut inbox).unwrap().is_empty());
        assert_eq!(replay.inserted(), (ACTORS * items) as u64);
    });
}
