//! Pushes never allocate; drains only until the replay has seen some of their size. One test only: the counter belongs to the process.

use per_core::replay::{Columns, Config, PrioritizedReplay};
use test_support::{Counting, allocations_of};

#[global_allocator]
static COUNTING: Counting = Counting;

#[test]
fn pushes_and_drains_allocate_nothing_after_the_first_drains() {
    const ROOM: usize = 300;
    let mut columns = Columns::new();
    let observation = columns.add::<f32>("observation", 50).unwrap();
    let action = columns.add::<i32>("action", 1).unwrap();
    let mut replay = PrioritizedReplay::new(Config::new(1000), columns).unwrap();
    let mut made = None;
    assert!(allocations_of(|| made = Some(replay.inbox(2, ROOM).unwrap())) > 0, "the counter works");
    let (mut inbox, mut writers) = made.unwrap();
    let (observations, actions) = (vec![1.0; 50 * ROOM], vec![2; ROOM]);
    let one = [action.rows(&actions[..1]), observation.rows(&observations[..50])];
    let half = [action.rows(&actions[..ROOM / 2]), observation.rows(&observations[..50 * (ROOM / 2)])];
    let all = [action.rows(&actions), observation.rows(&observations)];
    let mut fill = |times: usize, replay: &mut PrioritizedReplay| {
        let priorities = [3.0; ROOM];
        for _ in 0..times {
            for writer in &mut writers {
                writer.push_batch_with_priorities(&all, &priorities[..]).unwrap();
            }
            assert_eq!(replay.drain(&mut inbox).unwrap().len(), 2 * ROOM);
            for writer in &mut writers {
                writer.push_batch(&half).unwrap();
                writer.push(&one).unwrap();
                writer.push_with_priority(&one, 2.0).unwrap();
                assert!(writer.push_batch(&half).is_err());
            }
            assert!(replay.drain_rounds(&mut inbox, ROOM).unwrap().is_none());
            assert!(replay.drain_rounds(&mut inbox, 7).unwrap().is_some());
            assert_eq!(replay.drain_whole_rounds(&mut inbox).unwrap().counts(), [ROOM / 2 - 5; 2]);
        }
    };
    // Until the ring has come round.
    fill(3, &mut replay);
    assert_eq!(allocations_of(|| fill(5, &mut replay)), 0);
}
