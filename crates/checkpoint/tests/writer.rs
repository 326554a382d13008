//! The writer whose contents live elsewhere: the same bytes as from memory, and a file as a whole or not at all.

use std::collections::BTreeMap;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};

use checkpoint::{Checkpoint, Element, Error, Sink, SourceError, Writer};
use half::bf16;
use proptest::prelude::*;

mod common;

/// `count` different elements of each type.
trait Numbered: Element {
    fn number(i: u64) -> Self;

    fn numbers(count: usize) -> Vec<Self> {
        (0..count as u64).map(|i| Self::number(i.wrapping_mul(0x9e37_79b9_7f4a_7c15))).collect()
    }
}

macro_rules! numbered {
    ($($type:ty: $number:expr;)*) => {$(
        impl Numbered for $type {
            fn number(i: u64) -> Self {
                #[allow(clippy::redundant_closure_call)]
                $number(i)
            }
        }
    )*};
}
numbered! {
    bf16: |i: u64| bf16::from_bits((i >> 48) as u16);
    f32: |i: u64| f32::from_bits((i >> 32) as u32);
    u8: |i: u64| (i >> 56) as u8;
    u32: |i: u64| (i >> 32) as u32;
    u64: |i: u64| i;
    i32: |i: u64| (i >> 32) as i32;
    i64: |i: u64| i as i64;
}

/// One tensor, in memory and from a source that gives pieces of these lengths, over and over.
fn add<T: Numbered>(memory: &mut Checkpoint, file: &mut Writer<'_>, name: &str, count: usize, pieces: &[usize]) {
    let (values, pieces) = (T::numbers(count), pieces.to_vec());
    memory.put(name, &[count], &values).unwrap();
    let deliver = move |sink: &mut Sink<'_, T>| -> Result<(), SourceError> {
        let mut rest = &values[..];
        for &piece in pieces.iter().cycle() {
            assert_eq!(sink.remaining(), rest.len());
            if rest.is_empty() {
                break;
            }
            let (now, later) = rest.split_at(piece.min(rest.len()));
            sink.put(now)?;
            rest = later;
        }
        Ok(())
    };
    file.put_with(name, &[count], deliver).unwrap();
}

type Add = fn(&mut Checkpoint, &mut Writer<'_>, &str, usize, &[usize]);
const ADD: [Add; 7] = [add::<bf16>, add::<f32>, add::<u8>, add::<u32>, add::<u64>, add::<i32>, add::<i64>];

/// More than one block of 256 KiB of every type, in odd pieces, with elements that lie across the blocks' ends.
#[test]
fn large_tensors_in_odd_pieces_give_the_same_bytes() {
    for pieces in [&[1][..], &[0, 3, 1000, 7], &[100_003], &[4095, 4096, 4097], &[400_000]] {
        let (mut memory, mut file) = (Checkpoint::new(), Writer::new());
        for (i, add) in ADD.into_iter().enumerate().rev() {
            add(&mut memory, &mut file, &format!("t{i}"), 300_007, pieces);
        }
        let bytes = file.to_bytes().unwrap();
        assert!(bytes == memory.to_bytes().unwrap(), "{pieces:?}");
        assert!(common::read(&bytes).unwrap() == memory, "{pieces:?}");
    }
}

#[test]
fn rows_of_a_strided_store_are_gathered() {
    // Rows of 5 that begin every 8 elements, in the order of a ring that begins at row 60.
    let store = f32::numbers(100 * 8);
    let order = || (60..100).chain(0..60);
    let mut file = Writer::default();
    let rows = |sink: &mut Sink<'_, f32>| order().try_for_each(|r| Ok(sink.put(&store[r * 8..r * 8 + 5])?));
    file.put_with("rows", &[100, 5], rows).unwrap();
    let mut memory = Checkpoint::new();
    let gathered: Vec<f32> = order().flat_map(|r| (0..5).map(move |c| (r, c))).map(|(r, c)| store[r * 8 + c]).collect();
    memory.put("rows", &[100, 5], &gathered).unwrap();
    assert_eq!(file.to_bytes().unwrap(), memory.to_bytes().unwrap());
}

/// The contents of a folder, by name.
fn folder(path: &std::path::Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(path).unwrap().map(Result::unwrap);
    entries.map(|e| (e.file_name().into_string().unwrap(), fs::read(e.path()).unwrap())).collect()
}

/// A source of 100 000 elements that fails in its own way.
type Fails = fn(&mut Sink<'_, u32>) -> Result<(), SourceError>;

#[test]
fn a_source_that_fails_half_way_leaves_the_old_file_and_nothing_else() {
    const COUNT: usize = 100_000;
    let tmp = tempfile::tempdir().unwrap();
    let path = tmp.path().join("file");
    let mut old = Checkpoint::new();
    old.put("old", &[], &[1_u8]).unwrap();
    old.save_atomic(&path).unwrap();
    let before = folder(tmp.path());
    let save = |source: Fails| {
        let mut file = Writer::new();
        // In the file before and after the one that fails.
        file.put("first", &[1], &[1_u64]).unwrap();
        file.put_with("n", &[4, COUNT / 4], source).unwrap();
        file.put("last", &[1], &[1_u8]).unwrap();
        file.save_atomic(&path)
    };

    let few: Fails = |sink| Ok(sink.put(&vec![7; COUNT - 1])?);
    let none: Fails = |_| Ok(());
    let many: Fails = |sink| {
        sink.put(&vec![7; COUNT])?;
        Ok(sink.put(&[7])?)
    };
    let many_at_once: Fails = |sink| Ok(sink.put(&vec![7; COUNT + 1])?);
    let hidden: Fails = |sink| {
        let _ = sink.put(&vec![7; COUNT + 1]);
        Ok(())
    };
    // Too many are not forgotten where the right number follows.
    let retried: Fails = |sink| {
        let _ = sink.put(&vec![7; COUNT + 2]);
        let _ = sink.put(&vec![7; COUNT]);
        Ok(())
    };
    for (source, number) in [
        (few, COUNT - 1),
        (none, 0),
        (many, COUNT + 1),
        (many_at_once, COUNT + 1),
        (hidden, COUNT + 1),
        (retried, 2 * COUNT + 2),
    ] {
        match save(source) {
            Err(Error::Elements { tensor, shape, got }) => {
                assert_eq!((tensor.as_str(), &shape[..], got), ("n", &[4, COUNT / 4][..], number));
            }
            other => panic!("{number}: {other:?}"),
        }
        assert_eq!(folder(tmp.path()), before);
    }

    let own: Fails = |sink| {
        sink.put(&vec![7; COUNT / 2])?;
        Err("the card was pulled out".into())
    };
    let error = save(own).unwrap_err();
    assert!(matches!(&error, Error::Source { tensor, path: p, .. } if tensor == "n" && *p == path), "{error:?}");
    assert_eq!(error.to_string(), format!("checkpoint {}: tensor n: the card was pulled out", path.display()));
    assert_eq!(folder(tmp.path()), before);

    let panics: Fails = |sink| {
        sink.put(&vec![7; COUNT / 2])?;
        panic!("on purpose")
    };
    assert!(catch_unwind(AssertUnwindSafe(|| save(panics))).is_err());
    assert_eq!(folder(tmp.path()), before);

    save(|sink| Ok(sink.put(&vec![7; COUNT])?)).unwrap();
    assert_eq!(Checkpoint::load(&path).unwrap().tensor::<u32>("n", &[4, COUNT / 4]).unwrap(), vec![7; COUNT]);
    assert_eq!(fs::read_dir(tmp.path()).unwrap().count(), 1);
}

#[test]
fn names_shapes_and_sizes_are_checked_before_anything_is_written() {
    let none = |_: &mut Sink<'_, f32>| -> Result<(), SourceError> { panic!("nothing is asked for") };
    let mut file = Writer::new();
    file.put("w", &[2], &[1.0_f32, 2.0]).unwrap();
    file.put_metadata("configuration", "{}").unwrap();
    let name = |r: Result<(), Error>| match r {
        Err(Error::Name { name, .. }) => name,
        other => panic!("{other:?}"),
    };
    for wrong in ["", "__metadata__", "w"] {
        assert_eq!(name(file.put(wrong, &[1], &[0_u8])), wrong);
        assert_eq!(name(file.put_with(wrong, &[1], none)), wrong);
    }
    for wrong in ["configuration", "sha256", "format", "format_version"] {
        assert_eq!(name(file.put_metadata(wrong, "")), wrong);
    }
    for shape in [&[2, 3][..], &[], &[0], &[usize::MAX, 2]] {
        match file.put("new", shape, &[0_u32; 5]) {
            Err(Error::Elements { tensor, shape: s, got: 5 }) => assert_eq!((tensor.as_str(), &s[..]), ("new", shape)),
            other => panic!("{other:?}"),
        }
    }
    // 2^63 bytes, and numbers that overflow on the way.
    for shape in [&[1 << 61][..], &[1 << 62], &[usize::MAX], &[usize::MAX, usize::MAX], &[1 << 32, 1 << 32, 0]] {
        match file.put_with("new", shape, none) {
            Err(Error::Shape { tensor, got, .. }) => assert_eq!((tensor.as_str(), &got[..]), ("new", shape)),
            other => panic!("{other:?}"),
        }
    }
    let mut small = Checkpoint::new();
    small.put("w", &[2], &[1.0_f32, 2.0]).unwrap();
    small.put_metadata("configuration", "{}").unwrap();
    assert_eq!(file.to_bytes().unwrap(), small.to_bytes().unwrap(), "nothing was added");

    let tmp = tempfile::tempdir().unwrap();
    let mut large = Writer::new();
    // Each is possible, both are not.
    large.put_with("a", &[1 << 60], none).unwrap();
    large.put_with("b", &[1 << 60], none).unwrap();
    match large.save_atomic(tmp.path().join("large")) {
        Err(Error::TooLarge { what: "file", size, limit, .. }) => assert_eq!((size, limit), (1 << 63, (1 << 63) - 1)),
        other => panic!("{other:?}"),
    }
    let mut long = Writer::new();
    long.put_metadata("long", &"x".repeat(1 << 24)).unwrap();
    let error = long.save_atomic(tmp.path().join("long")).unwrap_err();
    assert!(matches!(error, Error::TooLarge { what: "header", limit: 16_777_216, .. }), "{error}");
    // More than there is memory for.
    let mut huge = Writer::new();
    huge.put_with("a", &[1 << 60], none).unwrap();
    assert!(matches!(huge.to_bytes(), Err(Error::Io { operation: "write", .. })));
    assert_eq!(fs::read_dir(tmp.path()).unwrap().count(), 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Any tensors of any types, declared in any order and delivered in any pieces.
    #[test]
    fn both_writers_give_the_same_bytes(
        tensors in prop::collection::hash_map("[a-z\"\u{e9}]{1,4}", (0..ADD.len(), 0_usize..3000), 0..8),
        pieces in prop::collection::vec(1_usize..700, 1..5),
        text in any::<String>(),
    ) {
        let (mut memory, mut file) = (Checkpoint::new(), Writer::new());
        // A hash map's order differs from one run to the next.
        for (name, &(add, count)) in &tensors {
            ADD[add](&mut memory, &mut file, name, count, &pieces);
        }
        memory.put_metadata("configuration", &text).unwrap();
        file.put_metadata("configuration", &text).unwrap();
        let bytes = file.to_bytes().unwrap();
        prop_assert_eq!(&bytes, &memory.to_bytes().unwrap());
        prop_assert_eq!(common::read(&bytes).unwrap(), memory);
    }
}
