//! Rows of a replay's items, on their way into records and out of them.

use arith::random::Stream;
use kernels_tests::DeviceReplay;

const CAPACITY: usize = 100;

fn bytes(n: usize, seed: u64) -> Vec<u8> {
    (0..n as u64).map(|i| Stream::new(seed, 1).word(i) as u8).collect()
}

/// Widths of whole words of 16 and of 4 bytes, and of neither; short, and with several rounds for each lane.
const WIDTHS: [usize; 10] = [1, 3, 4, 12, 16, 48, 255, 1024, 2044, 4112];

#[test]
fn a_batch_has_the_rows_of_its_items() {
    for width in WIDTHS {
        let records = bytes(CAPACITY * width, 1);
        let mut device = DeviceReplay::new(CAPACITY, width, &records);
        for (m, teams) in [(1, 1), (37, 1), (37, 2), (5, 7)] {
            device.tree.bench.options.seed = Some(m as u64);
            let (slots, rows, _) = device.sample(m, teams);
            let expected = slots.iter().flat_map(|&slot| &records[slot as usize * width..][..width]);
            assert_eq!(rows, expected.copied().collect::<Vec<_>>(), "{width} {m} {teams}");
        }
    }
}

#[test]
fn rows_of_new_items_go_round_the_ring() {
    for width in WIDTHS {
        let mut expected = bytes(CAPACITY * width, 1);
        let mut device = DeviceReplay::new(CAPACITY, width, &expected);
        // Rows of a part of an array may begin anywhere.
        for (at, n, teams, next) in [(0, 30, 1, 100_u64), (16, 30, 2, 180), (4, CAPACITY, 1, 1077), (1, 3, 3, 99)] {
            device.tree.bench.options.seed = Some(n as u64);
            let rows = bytes(at + n * width, next);
            device.tree.bench.write(&device.inserted, &[next]);
            device.insert_rows(&device.tree.bench.buffer(&rows), at, n, teams);
            for (row, number) in rows[at..].chunks_exact(width).zip(next..) {
                expected[(number % CAPACITY as u64) as usize * width..][..width].copy_from_slice(row);
            }
            assert_eq!(device.tree.bench.read(&device.records), expected, "{width} {at} {n} {teams}");
        }
    }
}
