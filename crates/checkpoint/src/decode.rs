//! From a file to its contents: first the checksum over all of it, then the header.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use crate::checksum::{self, Hashing};
use crate::contents::{Contents, Tensor};
use crate::header::{parse, whole_size};
use crate::{BLOCK, DIGITS, Dtype, Error, FORMAT, HEADER_LIMIT, LENGTH, PREFIX, RESERVED, VERSION};

/// Least size of a header that holds the checksum, with its length, in bytes.
const LEAST: usize = checksum::AT + DIGITS;

/// The file `path`, and its size in bytes, if that is at most `limit`.
pub(crate) fn open(path: &Path, limit: u64) -> Result<(File, u64), Error> {
    let io = |source| Error::Io { path: path.into(), operation: "open", source };
    let not_regular = || io(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    // Before opening it: that could wait for ever on a pipe.
    if !fs::metadata(path).map_err(io)?.is_file() {
        return Err(not_regular());
    }
    let file = File::open(path).map_err(io)?;
    // Again, of what was opened.
    let about = file.metadata().map_err(io)?;
    if !about.is_file() {
        return Err(not_regular());
    }
    let size = about.len();
    if size > limit {
        return Err(Error::TooLarge { path: path.into(), what: "file", size, limit });
    }
    Ok((file, size))
}

/// The contents of the `size` bytes of `from`; `data` of a tensor is where its elements begin. Verifies the checksum
/// before it parses anything; `path` is for messages. Holds the header and a block, whatever the size.
pub(crate) fn verify<R: Read + Seek>(path: &Path, from: &mut R, size: u64) -> Result<Contents<u64>, Error> {
    let damaged = |reason: String| Error::Damaged { path: path.into(), reason };
    let header = header(path, from, size)?;

    let stored = &header[PREFIX.len()..PREFIX.len() + DIGITS];
    let got = checksum(from, size).map_err(|e| read_error(path, e))?;
    if got.as_bytes() != stored {
        // Most often a copy that stopped; then the header is whole and knows the size.
        if let Some(expected) = parse(&header).ok().and_then(|m| whole_size(&header, &m))
            && expected > size
        {
            return Err(Error::Truncated { path: path.into(), expected, got: size });
        }
        let expected = stored.escape_ascii().to_string();
        return Err(Error::Checksum { path: path.into(), expected, got });
    }

    let parsed = parse(&header).map_err(|e| damaged(format!("header: {e}")))?;
    if whole_size(&header, &parsed) != Some(size) {
        return Err(damaged("the tensors don't fill the file".into()));
    }
    let mut contents = Contents::new(path.into());
    contents.metadata.extend(parsed.metadata().iter().flatten().map(|(k, v)| (k.clone(), v.clone())));
    if contents.metadata.get("format").map(String::as_str) != Some(FORMAT) {
        return Err(Error::Foreign { path: path.into(), reason: "its metadata has another format" });
    }
    let version = contents.metadata.get("format_version").map_or("(none)", String::as_str);
    if version != VERSION {
        return Err(Error::Version { path: path.into(), expected: VERSION, got: version.into() });
    }
    contents.metadata.retain(|key, _| !RESERVED.contains(&key.as_str()));

    // In the order of the file, so that of two faults always the same is reported.
    let data = (LENGTH + header.len()) as u64;
    for name in parsed.offset_keys() {
        let Some(info) = parsed.info(&name) else { continue };
        let got = info.dtype.to_string();
        let Some(dtype) = Dtype::ALL.into_iter().find(|d| d.name() == got) else {
            let expected = Dtype::ALL.map(Dtype::name).join(", ");
            return Err(Error::Dtype { path: path.into(), tensor: name, expected, got });
        };
        // The tensors fill the file, so every offset lies in it.
        let tensor = Tensor { dtype, shape: info.shape.clone(), data: data + info.data_offsets.0 as u64 };
        contents.tensors.insert(name, tensor);
    }
    Ok(contents)
}

/// The header of a file that begins like ours. It holds the checksum's digits.
fn header(path: &Path, from: &mut (impl Read + Seek), size: u64) -> Result<Vec<u8>, Error> {
    let truncated = |expected| Err(Error::Truncated { path: path.into(), expected, got: size });
    let mut start = Vec::new();
    from.take(LEAST as u64).read_to_end(&mut start).map_err(|e| read_error(path, e))?;
    let Some((length, rest)) = start.split_first_chunk::<LENGTH>() else {
        return truncated(LEAST as u64);
    };
    let length = u64::from_le_bytes(*length);
    // Memory for the header is asked for only where the file has as much.
    let fits = length <= HEADER_LIMIT && length <= size.saturating_sub(LENGTH as u64);
    let header = if fits {
        let mut header = vec![0; usize::try_from(length).unwrap_or_default()];
        read_at(from, LENGTH as u64, &mut header).map_err(|e| read_error(path, e))?;
        Some(header)
    } else {
        None
    };
    let common = rest.len().min(PREFIX.len());
    if rest[..common] != PREFIX[..common] {
        let whole = header.is_some_and(|h| parse(&h).is_ok_and(|m| whole_size(&h, &m) == Some(size)));
        let reason = if whole { "a safetensors file without its checksum" } else { "not a safetensors file" };
        return Err(Error::Foreign { path: path.into(), reason });
    }
    if length > HEADER_LIMIT {
        return Err(Error::TooLarge { path: path.into(), what: "header", size: length, limit: HEADER_LIMIT });
    }
    match header {
        Some(header) if header.len() >= LEAST - LENGTH => Ok(header),
        Some(_) if size >= LEAST as u64 => {
            Err(Error::Damaged { path: path.into(), reason: format!("the header has {length} bytes") })
        }
        _ => truncated(length.saturating_add(LENGTH as u64).max(LEAST as u64)),
    }
}

/// The checksum of the first `size` bytes of `from`, in blocks.
fn checksum(from: &mut (impl Read + Seek), size: u64) -> io::Result<String> {
    let mut hash = Hashing::new(io::sink());
    let mut block = vec![0; usize::try_from(size).map_or(BLOCK, |size| size.min(BLOCK))];
    // The digits lie in the first block: the header that was read holds them.
    let mut at = 0;
    while at < size {
        let length = usize::try_from(size - at).map_or(BLOCK, |left| left.min(BLOCK));
        let bytes = &mut block[..length];
        read_at(from, at, bytes)?;
        if at == 0 {
            bytes[checksum::AT..checksum::AT + DIGITS].fill(b'0');
        }
        hash.write_all(bytes)?;
        at += length as u64;
    }
    Ok(hash.finish().1)
}

/// Fills `bytes` with those from position `at` on.
pub(crate) fn read_at(from: &mut (impl Read + Seek), at: u64, bytes: &mut [u8]) -> io::Result<()> {
    from.seek(SeekFrom::Start(at))?;
    from.read_exact(bytes)
}

pub(crate) fn read_error(path: &Path, source: io::Error) -> Error {
    Error::Io { path: path.into(), operation: "read", source }
}
