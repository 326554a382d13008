//! Files that are damaged, foreign, of another version, or not what was asked for.

use std::fs;
use std::path::Path;

use checkpoint::{Checkpoint, Error};
use proptest::prelude::*;
use sha2::{Digest, Sha256};

mod common;
use common::read;

fn small() -> Vec<u8> {
    let mut c = Checkpoint::new();
    c.put("w", &[2], &[1.5_f32, -2.0]).unwrap();
    c.put("n", &[], &[3_u64]).unwrap();
    c.put_metadata("configuration", "{}").unwrap();
    c.to_bytes().unwrap()
}

/// A file with this header and this data, with a right checksum where the header has a place for it.
fn file(header: &str, data: &[u8]) -> Vec<u8> {
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    let zeros = "0".repeat(64);
    if let Some(at) = header.find(&zeros).map(|at| at + 8) {
        let sum: String = Sha256::digest(&bytes).iter().map(|b| format!("{b:02x}")).collect();
        bytes[at..at + 64].copy_from_slice(sum.as_bytes());
    }
    bytes
}

fn ours(rest: &str) -> String {
    format!(r#"{{"__metadata__":{{"sha256":"{}"{rest}"#, "0".repeat(64))
}

const GOOD: &str = r#","format":"lockstep-checkpoint","format_version":"1"}"#;

#[test]
fn every_flipped_bit_is_noticed() {
    let bytes = small();
    assert!(read(&bytes).is_ok());
    for at in 0..bytes.len() {
        for bit in 0..8 {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << bit;
            let error = read(&damaged).expect_err("a flipped bit");
            let right = match at {
                // The header's length: then the header is cut off, too large, or the checksum differs.
                0..8 => matches!(
                    error,
                    Error::Truncated { .. } | Error::TooLarge { .. } | Error::Checksum { .. } | Error::Damaged { .. }
                ),
                // What every file begins with.
                8..35 => matches!(error, Error::Foreign { .. }),
                // A flip in an offset or a shape can promise more data than there is.
                _ => matches!(error, Error::Checksum { .. } | Error::Truncated { .. }),
            };
            assert!(right, "byte {at}, bit {bit}: {error:?}");
        }
    }
}

#[test]
fn every_truncation_is_noticed() {
    let bytes = small();
    for length in 0..bytes.len() {
        match read(&bytes[..length]) {
            Err(Error::Truncated { expected, got, .. }) => {
                assert_eq!(got, length as u64);
                assert!(expected > got && expected <= bytes.len() as u64, "{expected}");
                // Once the header is there, the whole size is known.
                if length >= bytes.len() - 16 {
                    assert_eq!(expected, bytes.len() as u64);
                }
            }
            other => panic!("{length} bytes: {other:?}"),
        }
    }
}

#[test]
fn appended_bytes_are_noticed() {
    for extra in 1..20 {
        let mut bytes = small();
        bytes.extend(std::iter::repeat_n(0, extra));
        assert!(matches!(read(&bytes), Err(Error::Checksum { .. })));
    }
}

#[test]
fn swapped_tensors_are_noticed() {
    // Same bytes, same sizes, other names: a checksum of the data alone would not see it.
    let mut bytes = small();
    let at = bytes.windows(3).position(|w| w == b"\"w\"").unwrap();
    bytes[at + 1] = b'v';
    assert!(matches!(read(&bytes), Err(Error::Checksum { .. })));
}

#[test]
fn files_of_others_are_foreign() {
    let foreign = |bytes: &[u8]| match read(bytes) {
        Err(Error::Foreign { reason, .. }) => reason,
        other => panic!("{other:?}"),
    };
    let other = file(r#"{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}"#, &[0; 4]);
    assert!(safetensors::SafeTensors::deserialize(&other).is_ok());
    assert_eq!(foreign(&other), "a safetensors file without its checksum");
    let torch =
        file(r#"{"__metadata__":{"format":"pt"},"w":{"dtype":"BF16","shape":[2],"data_offsets":[0,4]}}"#, &[0; 4]);
    assert!(safetensors::SafeTensors::deserialize(&torch).is_ok());
    assert_eq!(foreign(&torch), "a safetensors file without its checksum");
    assert_eq!(foreign(b"PK\x03\x04 a zip file, as torch.save makes them"), "not a safetensors file");
    assert_eq!(foreign(&[0; 4096]), "not a safetensors file");
    assert_eq!(foreign(&[0xff; 4096]), "not a safetensors file");
    assert_eq!(foreign(&file("[1, 2]", &[])), "not a safetensors file");
    let checksummed = file(&(ours(r#","format":"another"}"#) + "}"), &[]);
    assert_eq!(foreign(&checksummed), "its metadata has another format");
    assert_eq!(foreign(&file(&(ours("}") + "}"), &[])), "its metadata has another format");
}

#[test]
fn other_versions_are_named() {
    for (version, got) in [(r#","format_version":"2""#, "2"), ("", "(none)"), (r#","format_version":"""#, "")] {
        let header = ours(&format!(r#","format":"lockstep-checkpoint"{version}}}}}"#));
        match read(&file(&header, &[])) {
            Err(Error::Version { expected: "1", got: g, .. }) => assert_eq!(g, got),
            other => panic!("{other:?}"),
        }
    }
}

/// Headers that make no sense, under a right checksum.
#[test]
fn headers_that_lie_are_damaged_and_do_not_panic() {
    let header = |tensors: &str| ours(GOOD) + tensors + "}";
    assert!(read(&file(&header(""), &[])).is_ok());
    let good = header(r#","w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}"#);
    assert!(read(&file(&good, &[0; 4])).is_ok());
    let huge = 1_u64 << 61;
    let halves: String = (0..8)
        .map(|i: u64| {
            let (start, end) = (i * (huge - 1), (i + 1) * (huge - 1));
            format!(r#","t{i}":{{"dtype":"U8","shape":[{}],"data_offsets":[{start},{end}]}}"#, huge - 1)
        })
        .collect();
    for tensors in [
        // Shape and offsets differ, gaps, overlaps, backward, beyond the end, overflow of shape and of offsets.
        r#","w":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}"#.into(),
        r#","w":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}"#.into(),
        r#","w":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"v":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}"#
            .into(),
        r#","w":{"dtype":"U8","shape":[4],"data_offsets":[4,0]}"#.into(),
        r#","w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}"#.into(),
        r#","w":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,4]}"#.into(),
        r#","w":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}"#.into(),
        r#","w":{"dtype":"F32","shape":[1],"data_offsets":[0,18446744073709551616]}"#.into(),
        halves,
        r#","w":{"dtype":"F99","shape":[1],"data_offsets":[0,4]}"#.into(),
        r#","w":{"dtype":"F32","shape":[1]}"#.into(),
        r#","w":3"#.into(),
        format!(r#","w":{}{}"#, "[".repeat(5_000), "]".repeat(5_000)),
        String::from(","),
    ] {
        let bytes = file(&header(&tensors), &[0; 4]);
        assert!(matches!(read(&bytes), Err(Error::Damaged { .. })), "{tensors:.100}");
    }
    // A type that the layout has and this crate has not.
    let f16 = header(r#","w":{"dtype":"F16","shape":[2],"data_offsets":[0,4]}"#);
    match read(&file(&f16, &[0; 4])) {
        Err(Error::Dtype { tensor, got, .. }) => assert_eq!((tensor.as_str(), got.as_str()), ("w", "F16")),
        other => panic!("{other:?}"),
    }
    // Our beginning, but a header that ends within it.
    let mut short = small();
    short[..8].copy_from_slice(&20_u64.to_le_bytes());
    assert!(matches!(read(&short), Err(Error::Damaged { .. })));
    for length in [HEADER_LIMIT + 1, u64::MAX, u64::MAX - 7] {
        let mut long = small();
        long[..8].copy_from_slice(&length.to_le_bytes());
        match read(&long) {
            Err(Error::TooLarge { what: "header", size, limit, .. }) => {
                assert_eq!((size, limit), (length, HEADER_LIMIT));
            }
            other => panic!("{other:?}"),
        }
    }
}

const HEADER_LIMIT: u64 = 1 << 24;

#[test]
fn errors_name_the_file_the_tensor_and_what_was_expected() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.safetensors");
    fs::write(&path, small()).unwrap();
    let c = Checkpoint::load(&path).unwrap();
    let shown = path.display();
    let text = |e: Error| e.to_string();
    assert_eq!(
        text(c.tensor::<f32>("w", &[1, 2]).unwrap_err()),
        format!("checkpoint {shown}: tensor w has shape [2], expected [1, 2]")
    );
    assert_eq!(
        text(c.tensor::<u32>("w", &[2]).unwrap_err()),
        format!("checkpoint {shown}: tensor w has elements of type F32, expected U32")
    );
    assert_eq!(text(c.tensor::<f32>("v", &[2]).unwrap_err()), format!("checkpoint {shown}: no tensor v"));
    assert_eq!(text(c.metadata("seed").unwrap_err()), format!("checkpoint {shown}: no metadata seed"));
    assert_eq!(
        text(c.vector::<u64>("n").unwrap_err()),
        format!("checkpoint {shown}: tensor n has shape [], expected one dimension")
    );
    assert_eq!(
        text(c.scalar::<f32>("w").unwrap_err()),
        format!("checkpoint {shown}: tensor w has shape [2], expected []")
    );

    let size = small().len() as u64;
    match Checkpoint::load_with_limit(&path, size - 1) {
        Err(Error::TooLarge { path: p, what: "file", size: s, limit }) => {
            assert_eq!((p, s, limit), (path.clone(), size, size - 1));
        }
        other => panic!("{other:?}"),
    }
    assert!(Checkpoint::load_with_limit(&path, size).is_ok());
    // A sparse file of a terabyte: refused by its size, before anything is allocated.
    let sparse = folder.path().join("sparse");
    if fs::File::create(&sparse).and_then(|f| f.set_len(1 << 40)).is_ok() {
        assert!(matches!(Checkpoint::load(&sparse), Err(Error::TooLarge { what: "file", .. })));
    }
    fs::write(&path, b"").unwrap();
    assert!(text(Checkpoint::load(&path).unwrap_err()).contains("the file has 0 bytes"));
    for absent in [folder.path(), &folder.path().join("missing"), Path::new("")] {
        assert!(matches!(Checkpoint::load(absent), Err(Error::Io { operation: "open", .. })));
    }
    #[cfg(unix)]
    assert!(matches!(Checkpoint::load("/dev/zero"), Err(Error::Io { operation: "open", .. })));
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(noise in prop::collection::vec(any::<u8>(), 0..300), at in 0_usize..400, keep in any::<bool>()) {
        prop_assert!(read(&noise).is_err());
        // Noise in the middle of a good file; a run of it equal to the file's own bytes is as good as impossible.
        let mut bytes = small();
        let at = at.min(bytes.len());
        let end = if keep { (at + noise.len()).min(bytes.len()) } else { at };
        if bytes[at..end] != noise[..] {
            bytes.splice(at..end, noise);
            prop_assert!(read(&bytes).is_err());
        }
    }

    /// Noise in a header whose checksum is right.
    #[test]
    fn no_header_makes_it_panic(noise in "[\\[\\]{}:,\"0-9a-z]{0,60}", at in 0_usize..80) {
        let tensors = r#","w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}"#;
        let (before, after) = tensors.split_at(at.min(tensors.len()));
        let header = ours(GOOD) + before + &noise + after;
        let _ = read(&file(&header, &[0; 4]));
    }
}
