//! From contents to bytes.

use std::fmt::Write as _;
use std::path::PathBuf;

use serde_json::json;
use sha2::{Digest, Sha256};

use crate::{Checkpoint, DIGITS, Error, FORMAT, HEADER_LIMIT, LENGTH, PREFIX, Tensor, VERSION};

/// The file's bytes. The header is written here rather than by the safetensors crate, which keeps metadata in a hash
/// map: its order, and so the file, would differ from run to run.
pub(crate) fn encode(checkpoint: &Checkpoint) -> Result<Vec<u8>, Error> {
    // Larger elements first, so that every tensor is aligned; then by name.
    let mut tensors: Vec<(&String, &Tensor)> = checkpoint.tensors.iter().collect();
    tensors.sort_by_key(|(_, tensor)| std::cmp::Reverse(tensor.dtype.size()));

    let mut header = String::from_utf8_lossy(PREFIX).into_owned();
    header.extend(std::iter::repeat_n('0', DIGITS));
    header.push('"');
    let own = [("format", FORMAT), ("format_version", VERSION)];
    let others = checkpoint.metadata.iter().map(|(k, v)| (k.as_str(), v.as_str()));
    for (key, value) in own.into_iter().chain(others) {
        // A `Value` prints as JSON.
        let _ = write!(header, ",{}:{}", json!(key), json!(value));
    }
    header.push('}');
    let mut end = 0;
    for (name, tensor) in &tensors {
        let start = end;
        end += tensor.bytes.len();
        let (name, dtype, shape) = (json!(name), tensor.dtype, json!(tensor.shape));
        let _ = write!(header, r#",{name}:{{"dtype":"{dtype}","shape":{shape},"data_offsets":[{start},{end}]}}"#);
    }
    header.push('}');
    // The data begins at a multiple of 8 bytes.
    header.extend(std::iter::repeat_n(' ', header.len().next_multiple_of(LENGTH) - header.len()));

    let size = header.len() as u64;
    if size > HEADER_LIMIT {
        return Err(Error::TooLarge { path: PathBuf::new(), what: "header", size, limit: HEADER_LIMIT });
    }
    let mut bytes = Vec::with_capacity(LENGTH + header.len() + end);
    bytes.extend(size.to_le_bytes());
    bytes.extend(header.as_bytes());
    for (_, tensor) in &tensors {
        bytes.extend(&tensor.bytes);
    }
    let digits = LENGTH + PREFIX.len();
    let sum = checksum(&bytes, digits);
    bytes[digits..digits + DIGITS].copy_from_slice(sum.as_bytes());
    Ok(bytes)
}

/// SHA-256 of `bytes` with zeros in place of the `DIGITS` digits at `digits`, in lower-case hexadecimal digits.
pub(crate) fn checksum(bytes: &[u8], digits: usize) -> String {
    let mut hash = Sha256::new();
    hash.update(&bytes[..digits]);
    hash.update([b'0'; DIGITS]);
    hash.update(&bytes[digits + DIGITS..]);
    hash.finalize().iter().fold(String::with_capacity(DIGITS), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
