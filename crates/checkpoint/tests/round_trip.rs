//! What goes in comes out, the bytes are those of the safetensors layout, and a failed save loses nothing.

use std::fs;

use checkpoint::{Checkpoint, Dtype, Error};
use half::bf16;
use proptest::prelude::*;
use serde_json::Value;
use sha2::{Digest, Sha256};

fn filled() -> Checkpoint {
    let mut c = Checkpoint::new();
    c.put("policy.weight", &[2, 3], &[0.5_f32, -0.0, f32::MIN_POSITIVE / 8.0, f32::MAX, -7.25, 3e-9]).unwrap();
    c.put("bytes", &[3], &[0_u8, 127, 255]).unwrap();
    c.put("counts", &[1, 2], &[1_u32, u32::MAX]).unwrap();
    c.put("words", &[2], &[u64::MAX, 9]).unwrap();
    c.put("signed", &[2], &[i64::MIN, -1]).unwrap();
    c.put("halves", &[3], &[bf16::from_f32(1.5), bf16::NEG_ZERO, bf16::from_bits(0xff81)]).unwrap();
    c.put("small", &[2], &[i32::MIN, -2]).unwrap();
    c.put("scalar", &[], &[11_u64]).unwrap();
    c.put::<f32>("nothing", &[4, 0], &[]).unwrap();
    c.put("quote \" backslash \\ line\n\u{e9}", &[1], &[1.0_f32]).unwrap();
    c.put_metadata("configuration", "{\"seed\": 1,\n \"name\": \"\u{fc}\"}").unwrap();
    c.put_metadata("", "").unwrap();
    c
}

#[test]
fn everything_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.safetensors");
    let saved = filled();
    saved.save_atomic(&path).unwrap();
    let c = Checkpoint::load(&path).unwrap();
    assert_eq!(c, saved);
    let weight = c.tensor::<f32>("policy.weight", &[2, 3]).unwrap();
    let right = [0.5_f32, -0.0, f32::MIN_POSITIVE / 8.0, f32::MAX, -7.25, 3e-9];
    assert_eq!(weight.iter().map(|x| x.to_bits()).collect::<Vec<_>>(), right.map(f32::to_bits));
    assert_eq!(c.vector::<u8>("bytes").unwrap(), [0, 127, 255]);
    assert_eq!(c.tensor::<u32>("counts", &[1, 2]).unwrap(), [1, u32::MAX]);
    assert_eq!(c.vector::<u64>("words").unwrap(), [u64::MAX, 9]);
    assert_eq!(c.vector::<i64>("signed").unwrap(), [i64::MIN, -1]);
    let halves = c.vector::<bf16>("halves").unwrap();
    assert_eq!(halves.iter().map(|x| x.to_bits()).collect::<Vec<_>>(), [0x3fc0, 0x8000, 0xff81]);
    assert_eq!(c.vector::<i32>("small").unwrap(), [i32::MIN, -2]);
    assert_eq!(c.scalar::<u64>("scalar").unwrap(), 11);
    assert!(c.tensor::<f32>("nothing", &[4, 0]).unwrap().is_empty());
    assert_eq!(c.vector::<f32>("quote \" backslash \\ line\n\u{e9}").unwrap(), [1.0]);
    assert_eq!(c.metadata("configuration").unwrap(), "{\"seed\": 1,\n \"name\": \"\u{fc}\"}");
    assert_eq!(c.metadata("").unwrap(), "");
    assert_eq!(c.info("counts").unwrap(), (Dtype::U32, &[1, 2][..]));
    assert_eq!(c.names().count(), 10);
    // An older file is replaced; nothing else stays in the folder.
    Checkpoint::new().save_atomic(&path).unwrap();
    assert_eq!(Checkpoint::load(&path).unwrap(), Checkpoint::new());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn equal_contents_give_equal_bytes() {
    let (mut a, mut b) = (Checkpoint::new(), Checkpoint::new());
    for i in 0..20 {
        a.put(&format!("t{i}"), &[1], &[i as f32]).unwrap();
        a.put_metadata(&format!("m{i}"), "x").unwrap();
    }
    for i in (0..20).rev() {
        b.put_metadata(&format!("m{i}"), "x").unwrap();
        b.put(&format!("t{i}"), &[1], &[i as f32]).unwrap();
    }
    assert_eq!(a.to_bytes().unwrap(), b.to_bytes().unwrap());
}

/// Other bytes would be another version of the format.
#[test]
fn the_bytes_are_the_same_for_ever() {
    let sum: String = Sha256::digest(filled().to_bytes().unwrap()).iter().map(|b| format!("{b:02x}")).collect();
    assert_eq!(sum, "d917a818485bd2fc0b2df4a06c9e7f1ba56bd3cd64f28608d8eeadd0cc50b941");
}

/// Reads the layout by its description alone.
#[test]
fn the_layout_is_that_of_safetensors() {
    let bytes = filled().to_bytes().unwrap();
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    assert_eq!(length % 8, 0);
    let header: Value = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
    let data = &bytes[8 + length..];
    let metadata = header["__metadata__"].as_object().unwrap();
    assert!(metadata.values().all(Value::is_string));
    assert_eq!(metadata["format"], "lockstep-checkpoint");
    assert_eq!(metadata["format_version"], "1");
    assert_eq!(metadata["sha256"].as_str().unwrap().len(), 64);
    let tensor = |name: &str| {
        let entry = &header[name];
        let at = |i: usize| entry["data_offsets"][i].as_u64().unwrap() as usize;
        (entry["dtype"].as_str().unwrap(), entry["shape"].to_string(), &data[at(0)..at(1)])
    };
    let floats = [0.5_f32, -0.0, f32::MIN_POSITIVE / 8.0, f32::MAX, -7.25, 3e-9];
    let floats: Vec<u8> = floats.iter().flat_map(|x| x.to_bits().to_le_bytes()).collect();
    assert_eq!(tensor("policy.weight"), ("F32", "[2,3]".into(), &floats[..]));
    assert_eq!(tensor("bytes"), ("U8", "[3]".into(), &[0, 127, 255][..]));
    assert_eq!(tensor("counts"), ("U32", "[1,2]".into(), &[1, 0, 0, 0, 255, 255, 255, 255][..]));
    assert_eq!(tensor("scalar"), ("U64", "[]".into(), &[11, 0, 0, 0, 0, 0, 0, 0][..]));
    assert_eq!(tensor("halves"), ("BF16", "[3]".into(), &[0xc0, 0x3f, 0, 0x80, 0x81, 0xff][..]));
    assert_eq!(tensor("small"), ("I32", "[2]".into(), &[0, 0, 0, 0x80, 0xfe, 255, 255, 255][..]));
    assert_eq!(tensor("nothing"), ("F32", "[4,0]".into(), &[][..]));
    // Tensors fill the data without gaps, each at a multiple of its element's size.
    let mut ranges: Vec<(u64, u64, u64)> = Vec::new();
    for (_, entry) in header.as_object().unwrap().iter().filter(|(name, _)| *name != "__metadata__") {
        let size = match entry["dtype"].as_str().unwrap() {
            "U8" => 1,
            "BF16" => 2,
            "F32" | "U32" | "I32" => 4,
            _ => 8,
        };
        ranges.push((entry["data_offsets"][0].as_u64().unwrap(), entry["data_offsets"][1].as_u64().unwrap(), size));
    }
    ranges.sort_unstable();
    let mut end = 0;
    for (start, stop, size) in ranges {
        assert_eq!((start, start % size), (end, 0));
        end = stop;
    }
    assert_eq!(end, data.len() as u64);
}

#[test]
fn the_safetensors_crate_reads_it() {
    let bytes = filled().to_bytes().unwrap();
    let file = safetensors::SafeTensors::deserialize(&bytes).unwrap();
    assert_eq!(file.len(), 10);
    let counts = file.tensor("counts").unwrap();
    assert_eq!((counts.dtype(), counts.shape()), (safetensors::Dtype::U32, &[1, 2][..]));
    assert_eq!(counts.data(), [1, 0, 0, 0, 255, 255, 255, 255]);
}

#[test]
fn names_and_sizes_are_checked() {
    let mut c = filled();
    let name = |r: Result<(), Error>| match r {
        Err(Error::Name { name, .. }) => name,
        other => panic!("{other:?}"),
    };
    assert_eq!(name(c.put("", &[1], &[0_u8])), "");
    assert_eq!(name(c.put("__metadata__", &[1], &[0_u8])), "__metadata__");
    assert_eq!(name(c.put("bytes", &[1], &[0_u8])), "bytes");
    assert_eq!(name(c.put_metadata("configuration", "")), "configuration");
    for key in ["sha256", "format", "format_version"] {
        assert_eq!(name(c.put_metadata(key, "")), key);
    }
    for (shape, got) in [(&[2, 3][..], 5), (&[], 0), (&[0], 5), (&[usize::MAX, 2], 5), (&[usize::MAX, usize::MAX], 1)] {
        match c.put("new", shape, &vec![0_u32; got]) {
            Err(Error::Elements { tensor, shape: s, got: g }) => {
                assert_eq!((tensor.as_str(), &s[..], g), ("new", shape, got));
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(c, filled(), "nothing was changed");
    c.put_metadata("long", &"x".repeat(1 << 24)).unwrap();
    assert!(matches!(c.to_bytes(), Err(Error::TooLarge { what: "header", limit: 16_777_216, .. })));
}

#[test]
fn a_save_that_fails_leaves_the_old_file() {
    let folder = tempfile::tempdir().unwrap();
    let old = folder.path().join("old");
    filled().save_atomic(&old).unwrap();
    let before = fs::read(&old).unwrap();

    let operation = |path: &std::path::Path| match Checkpoint::new().save_atomic(path) {
        Err(Error::Io { path: named, operation, .. }) => {
            assert_eq!(named, path);
            operation
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(operation(&folder.path().join("missing").join("file")), "create a temporary file");
    assert_eq!(operation(&old.join("file")), "create a temporary file");
    // A folder of that name: the rename fails, after everything was written.
    let taken = folder.path().join("taken");
    fs::create_dir(&taken).unwrap();
    assert_eq!(operation(&taken), "replace");
    // Too large a header is found before anything is written.
    let mut large = Checkpoint::new();
    large.put_metadata("long", &"x".repeat(1 << 24)).unwrap();
    assert!(matches!(large.save_atomic(&old), Err(Error::TooLarge { .. })));

    assert_eq!(fs::read(&old).unwrap(), before);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "no temporary file stays");
}

#[cfg(unix)]
#[test]
fn a_folder_without_write_permission_is_an_error_and_a_file_has_the_usual_permissions() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    filled().save_atomic(&path).unwrap();
    // As a file that was made without any care: read by the owner at least, by others as the umask says.
    fs::write(folder.path().join("plain"), b"").unwrap();
    let mode = |p: &std::path::Path| fs::metadata(p).unwrap().permissions().mode();
    assert_eq!(mode(&path), mode(&folder.path().join("plain")));

    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o500)).unwrap();
    // The superuser may write everywhere; then there is nothing to see.
    if fs::write(folder.path().join("probe"), b"").is_err() {
        let error = Checkpoint::new().save_atomic(&path).unwrap_err();
        assert!(matches!(error, Error::Io { operation: "create a temporary file", .. }), "{error}");
    }
    assert_eq!(Checkpoint::load(&path).unwrap(), filled());
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o700)).unwrap();
}

proptest! {
    #[test]
    fn any_contents_come_back(
        tensors in prop::collection::btree_map(
            "[a-z\"\\\\\u{0}-\u{1f}\u{e9}]{1,8}",
            (prop::collection::vec(any::<u32>(), 0..9), any::<bool>()),
            0..6,
        ),
        metadata in prop::collection::btree_map(any::<String>(), any::<String>(), 0..5),
    ) {
        let mut c = Checkpoint::new();
        for (name, (bits, float)) in &tensors {
            if *float {
                // Any bits, NaN payloads among them.
                let values: Vec<f32> = bits.iter().map(|&b| f32::from_bits(b)).collect();
                c.put(name, &[values.len()], &values).unwrap();
            } else {
                c.put(name, &[1, bits.len()], bits).unwrap();
            }
        }
        for (key, value) in &metadata {
            prop_assume!(!["sha256", "format", "format_version"].contains(&key.as_str()));
            c.put_metadata(key, value).unwrap();
        }
        let bytes = c.to_bytes().unwrap();
        let back = Checkpoint::from_bytes(&bytes).unwrap();
        prop_assert_eq!(back.to_bytes().unwrap(), bytes);
        for (name, (bits, float)) in &tensors {
            let got = if *float {
                back.vector::<f32>(name).unwrap().iter().map(|x| x.to_bits()).collect()
            } else {
                back.tensor::<u32>(name, &[1, bits.len()]).unwrap()
            };
            prop_assert_eq!(&got, bits);
        }
        for (key, value) in &metadata {
            prop_assert_eq!(back.metadata(key).unwrap(), value);
        }
    }
}
