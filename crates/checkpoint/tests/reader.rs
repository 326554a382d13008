//! The reader of pieces: what it gives, what it refuses, and that it stays with the file it verified.

use std::fs;
use std::path::Path;

use checkpoint::{Checkpoint, Dtype, Error, Reader};
use half::bf16;

/// Elements in 256 KiB.
const BLOCK_OF_U32: usize = 65_536;

fn numbers(count: usize) -> Vec<u32> {
    (0..count as u32).map(|i| i.wrapping_mul(2_654_435_761)).collect()
}

#[test]
fn rows_come_whole_and_in_order() {
    let tmp = tempfile::tempdir().unwrap();
    let path = tmp.path().join("file");
    let cases: [(&[usize], usize); 9] = [
        // Shape, and elements of a full piece.
        (&[], 1),
        (&[1], 1),
        (&[BLOCK_OF_U32], BLOCK_OF_U32),
        (&[2 * BLOCK_OF_U32 + 1], BLOCK_OF_U32),
        (&[50_000, 7], 65_534),
        (&[3, BLOCK_OF_U32 - 1], BLOCK_OF_U32 - 1),
        // Rows that are larger than a block come one by one.
        (&[3, BLOCK_OF_U32 + 1], BLOCK_OF_U32 + 1),
        (&[2, 3, BLOCK_OF_U32], 3 * BLOCK_OF_U32),
        (&[5, 2, 1, 3], 30),
    ];
    let mut file = Checkpoint::new();
    // In the file before them, so that they don't begin with the data.
    file.put("first", &[1], &[5_u64]).unwrap();
    for (i, (shape, _)) in cases.iter().enumerate() {
        file.put(&format!("t{i}"), shape, &numbers(shape.iter().product())).unwrap();
    }
    file.save_atomic(&path).unwrap();
    let mut reader = Reader::open(&path).unwrap();
    for (i, (shape, full)) in cases.iter().enumerate() {
        let (name, right) = (format!("t{i}"), numbers(shape.iter().product()));
        let (mut got, mut last) = (Vec::new(), *full);
        let mut rows = reader.rows::<u32>(&name, shape).unwrap();
        while let Some(piece) = rows.next_piece().unwrap() {
            assert_eq!(last, *full, "all pieces but the last are full");
            last = piece.len();
            assert_eq!(last % shape.iter().skip(1).product::<usize>(), 0);
            got.extend_from_slice(piece);
        }
        assert!(rows.next_piece().unwrap().is_none(), "the end stays the end");
        assert!(got == right, "{shape:?}");
        let mut into = vec![0; right.len()];
        reader.read_into(&name, shape, &mut into).unwrap();
        assert!(into == right, "{shape:?}");
        assert!(reader.tensor::<u32>(&name, shape).unwrap() == right);
    }
    assert_eq!(reader.vector::<u32>("t3").unwrap(), numbers(2 * BLOCK_OF_U32 + 1));
    assert_eq!(reader.scalar::<u32>("t0").unwrap(), 0);
    assert_eq!(reader.scalar::<u32>("t0").unwrap(), 0);
}

#[test]
fn tensors_without_elements_have_no_pieces() {
    let tmp = tempfile::tempdir().unwrap();
    let path = tmp.path().join("file");
    let shapes: [&[usize]; 5] = [&[0], &[4, 0], &[0, 4], &[0, usize::MAX], &[0, usize::MAX, usize::MAX]];
    let mut file = Checkpoint::new();
    for (i, shape) in shapes.iter().enumerate() {
        file.put::<bf16>(&format!("t{i}"), shape, &[]).unwrap();
    }
    file.save_atomic(&path).unwrap();
    let mut reader = Reader::open(&path).unwrap();
    for (i, shape) in shapes.iter().enumerate() {
        let name = format!("t{i}");
        assert!(reader.rows::<bf16>(&name, shape).unwrap().next_piece().unwrap().is_none());
        assert!(reader.tensor::<bf16>(&name, shape).unwrap().is_empty());
        reader.read_into::<bf16>(&name, shape, &mut []).unwrap();
    }
}

#[test]
fn what_was_not_asked_for_is_refused_and_nothing_is_changed() {
    let tmp = tempfile::tempdir().unwrap();
    let path = tmp.path().join("file");
    let mut file = Checkpoint::new();
    file.put("w", &[2, 2], &[1.0_f32, 2.0, 3.0, 4.0]).unwrap();
    file.put("n", &[], &[3_u64]).unwrap();
    file.put_metadata("seed", "1").unwrap();
    file.save_atomic(&path).unwrap();
    let mut reader = Reader::open(&path).unwrap();
    assert_eq!(reader.names().collect::<Vec<_>>(), ["n", "w"]);
    assert_eq!(reader.info("w").unwrap(), (Dtype::F32, &[2, 2][..]));
    assert_eq!(reader.metadata("seed").unwrap(), "1");

    let shown = path.display();
    let missing = format!("checkpoint {shown}: no tensor v");
    let dtype = format!("checkpoint {shown}: tensor w has elements of type F32, expected BF16");
    let shape = format!("checkpoint {shown}: tensor w has shape [2, 2], expected [4]");
    let (mut f, mut h) = ([9.0_f32; 4], [bf16::ONE; 4]);
    let text = |r: Result<(), Error>| r.unwrap_err().to_string();
    assert_eq!(text(reader.read_into("v", &[4], &mut f)), missing);
    assert_eq!(text(reader.read_into("w", &[2, 2], &mut h)), dtype);
    assert_eq!(text(reader.read_into("w", &[4], &mut f)), shape);
    assert_eq!(text(reader.rows::<f32>("v", &[4]).map(drop)), missing);
    assert_eq!(text(reader.rows::<bf16>("w", &[2, 2]).map(drop)), dtype);
    assert_eq!(text(reader.rows::<f32>("w", &[4]).map(drop)), shape);
    assert_eq!(text(reader.tensor::<f32>("v", &[4]).map(drop)), missing);
    assert_eq!(text(reader.tensor::<f32>("w", &[4]).map(drop)), shape);
    let one = format!("checkpoint {shown}: tensor w has shape [2, 2], expected one dimension");
    assert_eq!(text(reader.vector::<f32>("w").map(drop)), one);
    assert!(matches!(reader.scalar::<f32>("w"), Err(Error::Shape { .. })));
    assert_eq!(text(reader.info("v").map(drop)), missing);
    assert_eq!(text(reader.metadata("v").map(drop)), format!("checkpoint {shown}: no metadata v"));
    for length in [0, 3, 5] {
        match reader.read_into("w", &[2, 2], &mut vec![9.0_f32; length]) {
            Err(Error::Elements { tensor, shape, got }) => {
                assert_eq!((tensor.as_str(), &shape[..], got), ("w", &[2, 2][..], length));
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!((f, h), ([9.0; 4], [bf16::ONE; 4]));
    reader.read_into("w", &[2, 2], &mut f).unwrap();
    assert_eq!(f, [1.0, 2.0, 3.0, 4.0]);
}

#[test]
fn a_file_that_is_replaced_while_open_stays_the_one_that_was_verified() {
    let tmp = tempfile::tempdir().unwrap();
    let path = tmp.path().join("file");
    let save = |value: u32| {
        let mut file = Checkpoint::new();
        file.put("w", &[100_000], &vec![value; 100_000]).unwrap();
        file.save_atomic(&path)
    };
    save(1).unwrap();
    let mut reader = Reader::open(&path).unwrap();
    // Elsewhere an open file can't be replaced.
    #[cfg(unix)]
    save(2).unwrap();
    assert_eq!(reader.vector::<u32>("w").unwrap(), vec![1; 100_000]);
}

/// What shrinks after it was verified ends in an error; the next call tries the same piece.
#[test]
fn a_file_cut_off_while_open_is_an_error() {
    let tmp = tempfile::tempdir().unwrap();
    let path = tmp.path().join("file");
    let mut file = Checkpoint::new();
    file.put("w", &[3 * BLOCK_OF_U32], &numbers(3 * BLOCK_OF_U32)).unwrap();
    file.save_atomic(&path).unwrap();
    let whole = fs::read(&path).unwrap();
    let mut reader = Reader::open(&path).unwrap();
    let mut rows = reader.rows::<u32>("w", &[3 * BLOCK_OF_U32]).unwrap();
    assert!(rows.next_piece().unwrap().is_some());
    fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(whole.len() as u64 / 2).unwrap();
    for _ in 0..2 {
        match rows.next_piece() {
            Err(Error::Io { path: named, operation: "read", .. }) => assert_eq!(named, path),
            other => panic!("{:?}", other.map(|p| p.map(<[u32]>::len))),
        }
    }
    // In place: the same file as the one that is open.
    fs::write(&path, &whole).unwrap();
    assert!(rows.next_piece().unwrap().unwrap() == &numbers(3 * BLOCK_OF_U32)[BLOCK_OF_U32..2 * BLOCK_OF_U32]);
}

#[test]
fn what_is_not_a_regular_file_is_refused() {
    let tmp = tempfile::tempdir().unwrap();
    for absent in [tmp.path(), &tmp.path().join("missing"), Path::new("")] {
        assert!(matches!(Reader::open(absent), Err(Error::Io { operation: "open", .. })));
    }
    #[cfg(unix)]
    assert!(matches!(Reader::open("/dev/zero"), Err(Error::Io { operation: "open", .. })));
    // A sparse file of a terabyte, which is not refused by its size: its beginning is enough.
    let sparse = tmp.path().join("sparse");
    if fs::File::create(&sparse).and_then(|f| f.set_len(1 << 40)).is_ok() {
        assert!(matches!(Reader::open(&sparse), Err(Error::Foreign { .. })));
    }
}
