//! From bytes to contents.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;

use safetensors::tensor::Metadata;

use crate::encode::checksum;
use crate::{Checkpoint, DIGITS, Dtype, Error, FORMAT, HEADER_LIMIT, LENGTH, PREFIX, RESERVED, Tensor, VERSION};

/// The bytes of the file `path`, if they are at most `limit`.
pub(crate) fn read(path: &Path, limit: u64) -> Result<Vec<u8>, Error> {
    let io = |operation| move |source| Error::Io { path: path.into(), operation, source };
    // Before opening it: that could wait for ever on a pipe.
    let about = fs::metadata(path).map_err(io("open"))?;
    if !about.is_file() {
        return Err(io("open")(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file")));
    }
    let size = about.len();
    let capacity = usize::try_from(size).ok().filter(|_| size <= limit);
    let capacity = capacity.ok_or_else(|| Error::TooLarge { path: path.into(), what: "file", size, limit })?;
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(capacity).map_err(|e| io("read")(io::Error::new(io::ErrorKind::OutOfMemory, e)))?;
    File::open(path).map_err(io("open"))?.take(size).read_to_end(&mut bytes).map_err(io("read"))?;
    Ok(bytes)
}

/// The contents of `bytes`. Verifies the checksum before it parses anything; `path` is for messages.
pub(crate) fn decode(path: &Path, bytes: &[u8]) -> Result<Checkpoint, Error> {
    let damaged = |reason: String| Error::Damaged { path: path.into(), reason };
    let digits = LENGTH + PREFIX.len();
    let (header, data) = split(path, bytes)?;

    let stored = &bytes[digits..digits + DIGITS];
    let got = checksum(bytes, digits);
    if got.as_bytes() != stored {
        // Most often a copy that stopped; then the header is whole and knows the size.
        if let Some(expected) = parse(header).ok().and_then(|m| whole_size(header, &m))
            && expected > bytes.len() as u64
        {
            return Err(Error::Truncated { path: path.into(), expected, got: bytes.len() as u64 });
        }
        let expected = stored.escape_ascii().to_string();
        return Err(Error::Checksum { path: path.into(), expected, got });
    }

    let header_metadata = parse(header).map_err(|e| damaged(format!("header: {e}")))?;
    if whole_size(header, &header_metadata) != Some(bytes.len() as u64) {
        return Err(damaged("the tensors don't fill the file".into()));
    }
    let mut metadata: BTreeMap<String, String> =
        header_metadata.metadata().iter().flatten().map(|(k, v)| (k.clone(), v.clone())).collect();
    if metadata.get("format").map(String::as_str) != Some(FORMAT) {
        return Err(Error::Foreign { path: path.into(), reason: "its metadata has another format" });
    }
    let version = metadata.get("format_version").map_or("(none)", String::as_str);
    if version != VERSION {
        return Err(Error::Version { path: path.into(), expected: VERSION, got: version.into() });
    }
    metadata.retain(|key, _| !RESERVED.contains(&key.as_str()));

    let mut tensors = BTreeMap::new();
    for (name, info) in header_metadata.tensors() {
        let got = info.dtype.to_string();
        let Some(dtype) = Dtype::ALL.into_iter().find(|d| d.name() == got) else {
            let expected = "BF16, F32, U8, U32, U64, I32 or I64".into();
            return Err(Error::Dtype { path: path.into(), tensor: name, expected, got });
        };
        let (start, end) = info.data_offsets;
        let slice = data.get(start..end).ok_or_else(|| damaged(format!("tensor {name} lies outside of the file")))?;
        tensors.insert(name, Tensor { dtype, shape: info.shape.clone(), bytes: slice.to_vec() });
    }
    Ok(Checkpoint { tensors, metadata, origin: path.into() })
}

/// Header and data of a file that begins like ours. The header holds the checksum's digits.
fn split<'a>(path: &Path, bytes: &'a [u8]) -> Result<(&'a [u8], &'a [u8]), Error> {
    let size = bytes.len() as u64;
    let truncated = |expected| Err(Error::Truncated { path: path.into(), expected, got: size });
    let least = LENGTH + PREFIX.len() + DIGITS;
    let Some((length, rest)) = bytes.split_first_chunk::<LENGTH>() else {
        return truncated(least as u64);
    };
    let length = u64::from_le_bytes(*length);
    let header = usize::try_from(length).ok().and_then(|n| rest.split_at_checked(n));
    let common = rest.len().min(PREFIX.len());
    if rest[..common] != PREFIX[..common] {
        let whole = header.is_some_and(|(h, _)| parse(h).is_ok_and(|m| whole_size(h, &m) == Some(size)));
        let reason = if whole { "a safetensors file without its checksum" } else { "not a safetensors file" };
        return Err(Error::Foreign { path: path.into(), reason });
    }
    if length > HEADER_LIMIT {
        return Err(Error::TooLarge { path: path.into(), what: "header", size: length, limit: HEADER_LIMIT });
    }
    match header {
        Some((header, data)) if header.len() >= least - LENGTH => Ok((header, data)),
        Some(_) if bytes.len() >= least => {
            Err(Error::Damaged { path: path.into(), reason: format!("the header has {length} bytes") })
        }
        _ => truncated(length.saturating_add(LENGTH as u64).max(least as u64)),
    }
}

/// The header, with tensors that follow each other without gaps and have the sizes of their shapes.
///
/// Not by `SafeTensors::deserialize`: it adds offsets from the file without a check for overflow.
fn parse(header: &[u8]) -> Result<Metadata, serde_json::Error> {
    serde_json::from_slice(header)
}

/// Size of the whole file by its header.
fn whole_size(header: &[u8], metadata: &Metadata) -> Option<u64> {
    u64::try_from(LENGTH.checked_add(header.len())?.checked_add(metadata.data_len())?).ok()
}
