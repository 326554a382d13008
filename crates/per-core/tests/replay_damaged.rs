//! Files that aren't those of a replay: damaged ones, and forged ones whose checksum is right.

use checkpoint::{Checkpoint, Reader, Writer};
use per_core::PrioritizedReplay;
use per_core::replay::{Columns, Config, Episodes, Error, NStep};
use std::fs;
use std::path::PathBuf;

/// A file of one test.
fn file(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("replay_damaged");
    fs::create_dir_all(&folder).unwrap();
    folder.join(name)
}

/// A small file, and what is in it.
fn small(name: &str) -> (PathBuf, PrioritizedReplay) {
    let mut columns = Columns::new();
    let a = columns.add::<f32>("a", 1).unwrap();
    let b = columns.add_last::<u8>("b", 1).unwrap();
    let episodes = Some(Episodes { terminated: b, truncated: Some(b) });
    let n_step = Some(NStep { steps: 2, discount: 0.5, reward: a });
    let mut replay = PrioritizedReplay::new(Config { episodes, n_step, ..Config::new(4) }, columns).unwrap();
    let rows = [a.rows(&[1.0, 2.0, 3.0]), b.rows(&[0, 1, 0])];
    replay.insert_batch_with_priorities(&rows, &[1.0, 2.0, 4.0]).unwrap();
    let path = file(name);
    replay.save(&path).unwrap();
    (path, replay)
}

#[test]
fn damaged_files_are_refused() {
    let (path, _) = small("damaged");
    let good = fs::read(&path).unwrap();
    for at in 0..good.len() {
        let mut bad = good.clone();
        bad[at] ^= 1 << (at % 8);
        fs::write(&path, &bad).unwrap();
        let error = PrioritizedReplay::load(&path).unwrap_err();
        assert!(matches!(error, Error::File(_)), "byte {at}: {error:?}");
        fs::write(&path, &good[..at]).unwrap();
        assert!(matches!(PrioritizedReplay::load(&path), Err(Error::File(_))), "{at} bytes");
    }
    fs::write(&path, [&good[..], b"\0"].concat()).unwrap();
    assert!(matches!(PrioritizedReplay::load(&path), Err(Error::File(_))));
    fs::write(&path, &good).unwrap();
    PrioritizedReplay::load(&path).unwrap();
    assert!(matches!(PrioritizedReplay::load(file("none")), Err(Error::File(checkpoint::Error::Io { .. }))));
    // A checkpoint of something else.
    let mut other = Checkpoint::new();
    other.put("policy", &[2], &[1.0_f32, 2.0]).unwrap();
    other.save_atomic(&path).unwrap();
    assert!(matches!(PrioritizedReplay::load(&path), Err(Error::File(checkpoint::Error::MissingMetadata { .. }))));
    other.put_metadata("contents", "lockstep replay 0").unwrap();
    other.save_atomic(&path).unwrap();
    let error = PrioritizedReplay::load(&path).unwrap_err();
    assert!(matches!(&error, Error::Contents { what, .. } if what == "contents"), "{error:?}");
}

/// What a file has instead of what it should have.
#[derive(Clone, Copy, Debug)]
enum Forged {
    F32(&'static str, &'static [usize], &'static [f32]),
    U8(&'static str, &'static [usize], &'static [u8]),
    U64(&'static str, u64),
    I64(&'static str, &'static [usize], &'static [i64]),
    Text(&'static str, &'static str),
    /// Neither a tensor nor a string of this name.
    Missing(&'static str),
}
use Forged::{F32, I64, Missing, Text, U8, U64};

impl Forged {
    fn name(self) -> &'static str {
        match self {
            F32(name, ..) | U8(name, ..) | U64(name, _) | I64(name, ..) | Text(name, _) | Missing(name) => name,
        }
    }
}

const TEXTS: [&str; 9] = [
    "contents",
    "column.0",
    "column.0.at",
    "column.1",
    "column.1.at",
    "config.draws",
    "config.weights",
    "config.new_items",
    "config.all_zero",
];

/// The small file with other contents and the right checksum.
fn forge(name: &str, forged: &[Forged]) -> Result<PrioritizedReplay, Error> {
    let (path, _) = small(name);
    let mut reader = Reader::open(&path)?;
    let replaced = |name: &str| forged.iter().any(|f| f.name() == name);
    let names: Vec<String> = reader.names().map(Into::into).filter(|name: &String| !replaced(name)).collect();
    let texts: Vec<_> = TEXTS.into_iter().filter(|key| !replaced(key)).collect();
    let mut floats = vec![];
    let mut bytes = vec![];
    let mut words = vec![];
    for name in &names {
        let (dtype, shape) = reader.info(name)?;
        let shape = shape.to_vec();
        match dtype {
            checkpoint::Dtype::F32 => floats.push((name, reader.tensor::<f32>(name, &shape)?, shape)),
            checkpoint::Dtype::U8 => bytes.push((name, reader.tensor::<u8>(name, &shape)?, shape)),
            _ => words.push((name, reader.tensor::<u64>(name, &shape)?, shape)),
        }
    }
    let mut writer = Writer::new();
    floats.iter().try_for_each(|(name, data, shape)| writer.put(name, shape, data))?;
    bytes.iter().try_for_each(|(name, data, shape)| writer.put(name, shape, data))?;
    words.iter().try_for_each(|(name, data, shape)| writer.put(name, shape, data))?;
    texts.iter().try_for_each(|key| writer.put_metadata(key, reader.metadata(key)?))?;
    for forged in forged {
        match forged {
            F32(name, shape, data) => writer.put(name, shape, data)?,
            U8(name, shape, data) => writer.put(name, shape, data)?,
            U64(name, value) => writer.put(name, &[], std::slice::from_ref(value))?,
            I64(name, shape, data) => writer.put(name, shape, data)?,
            Text(key, value) => writer.put_metadata(key, value)?,
            Missing(_) => (),
        }
    }
    writer.save_atomic(&path)?;
    PrioritizedReplay::load(&path)
}

#[test]
fn forged_contents_are_refused() {
    let loaded = forge("untouched", &[]).unwrap();
    assert_eq!((loaded.len(), loaded.max_priority()), (3, Some(4.0)));

    let contents = |what: &str, forged: &[Forged]| {
        let error = forge("forged", forged).unwrap_err();
        assert!(matches!(&error, Error::Contents { what: w, .. } if w == what), "{forged:?}: {error:?}");
    };
    let setting = |name: &str, forged: &[Forged]| {
        let error = forge("forged", forged).unwrap_err();
        assert!(matches!(&error, Error::Setting { name: n, .. } if *n == name), "{forged:?}: {error:?}");
    };
    let in_file = |forged: &[Forged]| {
        let error = forge("forged", forged).unwrap_err();
        assert!(matches!(error, Error::File(_)), "{forged:?}: {error:?}");
    };
    for (position, priorities) in
        [(1, &[1.0, f32::NAN, 1.0]), (2, &[-1.0, 0.0, -2.0]), (0, &[f32::INFINITY, 1.0, 1.0]), (2, &[1.0, 1.0, -1e-45])]
    {
        let error = forge("forged", &[F32("priority", &[3], priorities)]).unwrap_err();
        assert!(matches!(error, Error::InvalidPriority { position: p, .. } if p == position), "{error:?}");
    }
    let error = forge(
        "forged",
        &[
            F32("priority", &[3], &[1.0, 3e38, 1.0]),
            F32("largest_ever", &[], &[3e38]),
            F32("config.alpha", &[], &[2.0]),
        ],
    );
    assert!(matches!(error, Err(Error::PriorityOverflow { position: 1, .. })), "{error:?}");
    let ever = Text("config.new_items", "largest ever");
    setting("alpha", &[F32("largest_ever", &[], &[3e38]), F32("config.alpha", &[], &[2.0]), ever]);
    for wrong in [&[3.9][..], &[f32::NAN], &[f32::INFINITY], &[-1.0]] {
        contents("largest_ever", &[F32("largest_ever", &[], wrong)]);
    }
    for key in ["config.draws", "config.weights", "config.new_items", "config.all_zero", "column.1.at"] {
        let key: &'static str = TEXTS.into_iter().find(|k| *k == key).unwrap();
        contents(key, &[Text(key, "unheard of")]);
        contents(key, &[Text(key, "")]);
        in_file(&[Missing(key)]);
    }
    for (name, value) in [
        ("config.alpha", &[f32::NAN][..]),
        ("config.alpha", &[-0.5]),
        ("config.epsilon", &[f32::INFINITY]),
        ("config.n_step.discount", &[1.5]),
    ] {
        setting(name.strip_prefix("config.").unwrap(), &[F32(name, &[], value)]);
        in_file(&[Missing(name)]);
        in_file(&[F32(name, &[2], &[0.5, 0.5])]);
        in_file(&[U64(name, 0)]);
    }
    setting("environments", &[U64("config.environments", 0)]);
    setting("n_step.steps", &[U64("config.n_step.steps", 0)]);
    setting("inserted", &[U64("inserted", u64::MAX), F32("priority", &[4], &[1.0; 4])]);
    for capacity in [0, 1 << 31, u64::MAX] {
        setting("capacity", &[U64("config.capacity", capacity)]);
    }
    // Another number of items than there are rows of.
    for wrong in [0, 2, 4, 1 << 40] {
        in_file(&[U64("inserted", wrong)]);
    }
    in_file(&[U64("config.capacity", 2)]);
    in_file(&[F32("priority", &[2], &[1.0, 1.0])]);
    in_file(&[F32("priority", &[3, 1], &[1.0; 3])]);
    in_file(&[U8("priority", &[3], &[1; 3])]);
    in_file(&[F32("rows.a", &[2, 1], &[1.0; 2])]);
    in_file(&[F32("rows.a", &[4, 1], &[1.0; 4])]);
    for name in
        ["priority", "rows.a", "rows.b", "inserted", "draws_made", "largest_ever", "config.capacity", "config.seed"]
    {
        in_file(&[Missing(name)]);
    }
    for name in ["contents", "config.stream", "config.environments", "config.n_step.steps"] {
        in_file(&[Missing(name)]);
    }
    // Columns: of another type or shape, one that there isn't, one that there is already, none.
    contents("column.0", &[I64("rows.a", &[3, 1], &[1; 3])]);
    contents("column.0", &[F32("rows.a", &[3], &[1.0; 3])]);
    contents("column.0", &[F32("rows.a", &[3, 1, 1], &[1.0; 3])]);
    let error = forge("forged", &[F32("rows.a", &[3, 0], &[])]).unwrap_err();
    assert!(matches!(&error, Error::Column { name, .. } if name == "a"), "{error:?}");
    let error = forge("forged", &[Text("column.1", "a")]).unwrap_err();
    assert!(matches!(&error, Error::Column { name, .. } if name == "a"), "{error:?}");
    in_file(&[Text("column.1", "c")]);
    for name in ["config.n_step.reward", "config.episodes.terminated", "config.episodes.truncated"] {
        for wrong in [2, 1 << 33, u64::MAX] {
            contents(name, &[U64(name, wrong)]);
        }
    }
    for (name, wrong) in
        [("config.n_step.reward", 1), ("config.episodes.terminated", 0), ("config.episodes.truncated", 0)]
    {
        let error = forge("forged", &[U64(name, wrong)]).unwrap_err();
        assert!(matches!(error, Error::ColumnType { .. }), "{error:?}");
    }
    // Parts without the entry by which they are found.
    contents("config.n_step.steps", &[Missing("config.n_step.reward")]);
    contents("config.episodes.truncated", &[Missing("config.episodes.terminated")]);
    contents("rows.b", &[Missing("column.1")]);
    setting("n_step.reward", &[F32("rows.a", &[3, 2], &[1.0; 6])]);
    setting("episodes.terminated", &[U8("rows.b", &[3, 2], &[1; 6])]);
    in_file(&[F32("config.n_step.reward", &[], &[0.0])]);
}

#[test]
fn a_write_that_fails_leaves_the_old_file() {
    let (path, mut replay) = small("kept");
    let old = fs::read(&path).unwrap();
    replay.clear();
    // No such folder; a folder of that name.
    assert!(matches!(replay.save(path.join("below")), Err(Error::File(checkpoint::Error::Io { .. }))));
    let folder = file("folder");
    fs::create_dir_all(folder.join("full")).unwrap();
    assert!(matches!(replay.save(&folder), Err(Error::File(checkpoint::Error::Io { .. }))));
    assert!(fs::read(&path).unwrap() == old && folder.is_dir());
    // A write that doesn't fail replaces it.
    replay.save(&path).unwrap();
    assert_eq!(PrioritizedReplay::load(&path).unwrap().len(), 0);
}
