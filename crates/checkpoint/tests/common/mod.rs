//! What several tests need.

use std::fs;
use std::mem::discriminant;

use checkpoint::{Checkpoint, Dtype, Element, Error, Reader};
use half::bf16;

/// The contents of `bytes`, which all ways of reading must agree on: from memory, from a file, and piece by piece.
pub(crate) fn read(bytes: &[u8]) -> Result<Checkpoint, Error> {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), bytes).unwrap();
    let expected = Checkpoint::from_bytes(bytes);
    let got = [Checkpoint::load(file.path()), Reader::open(file.path()).map(|mut r| collect(&mut r))];
    for got in got {
        match (&expected, &got) {
            (Ok(expected), Ok(got)) => assert_eq!(expected, got),
            (Err(expected), Err(got)) => {
                assert_eq!(discriminant(expected), discriminant(got));
                let text = got.to_string().replace(&file.path().display().to_string(), "");
                assert_eq!(expected.to_string(), text);
            }
            _ => panic!("{expected:?} in memory, {got:?} in a file"),
        }
    }
    expected
}

/// All tensors of `reader`, in pieces, and the string that these tests put.
fn collect(reader: &mut Reader) -> Checkpoint {
    let mut all = Checkpoint::new();
    let names: Vec<String> = reader.names().map(String::from).collect();
    for name in &names {
        let copy = match reader.info(name).unwrap().0 {
            Dtype::Bf16 => copy::<bf16>,
            Dtype::F32 => copy::<f32>,
            Dtype::U8 => copy::<u8>,
            Dtype::U32 => copy::<u32>,
            Dtype::U64 => copy::<u64>,
            Dtype::I32 => copy::<i32>,
            Dtype::I64 => copy::<i64>,
            other => panic!("{other}"),
        };
        copy(reader, name, &mut all);
    }
    if let Ok(text) = reader.metadata("configuration") {
        all.put_metadata("configuration", text).unwrap();
    }
    all
}

fn copy<T: Element>(reader: &mut Reader, name: &str, to: &mut Checkpoint) {
    let shape = reader.info(name).unwrap().1.to_vec();
    let mut values = Vec::<T>::new();
    let mut rows = reader.rows::<T>(name, &shape).unwrap();
    while let Some(piece) = rows.next_piece().unwrap() {
        values.extend(piece);
    }
    to.put(name, &shape, &values).unwrap();
}
