//! The header as text: written here, parsed by the safetensors crate.

use std::fmt::Write as _;
use std::path::PathBuf;

use safetensors::tensor::Metadata;
use serde_json::json;

use crate::contents::{Contents, elements};
use crate::{DIGITS, Error, FILE_SIZE, FORMAT, HEADER_LIMIT, LENGTH, PREFIX, VERSION};

/// A file's beginning, and what follows.
pub(crate) struct Plan {
    /// Length of the header and the header, with zeros for the checksum.
    pub(crate) start: Vec<u8>,
    /// The tensors in the order of the file.
    pub(crate) order: Vec<String>,
    /// Size of the whole file, in bytes.
    pub(crate) size: u64,
}

/// The header is not written by the safetensors crate, which keeps metadata in a hash map: its order, and so the file,
/// would differ from run to run.
pub(crate) fn plan<D>(contents: &Contents<D>) -> Result<Plan, Error> {
    let too_large = |what, size, limit| Error::TooLarge { path: PathBuf::new(), what, size, limit };
    // Larger elements first, so that every tensor is aligned; then by name.
    let mut tensors: Vec<_> = contents.tensors.iter().collect();
    tensors.sort_by_key(|(_, tensor)| std::cmp::Reverse(tensor.dtype.size()));

    let mut header = String::from_utf8_lossy(PREFIX).into_owned();
    header.extend(std::iter::repeat_n('0', DIGITS));
    header.push('"');
    let own = [("format", FORMAT), ("format_version", VERSION)];
    let others = contents.metadata.iter().map(|(k, v)| (k.as_str(), v.as_str()));
    for (key, value) in own.into_iter().chain(others) {
        // A `Value` prints as JSON.
        let _ = write!(header, ",{}:{}", json!(key), json!(value));
    }
    header.push('}');
    let mut end = 0_u64;
    for (name, tensor) in &tensors {
        let start = end;
        // Each tensor by itself is at most FILE_SIZE: its `put` saw to that.
        let bytes = elements(&tensor.shape).and_then(|n| u64::try_from(n.checked_mul(tensor.dtype.size())?).ok());
        end = start.saturating_add(bytes.unwrap_or(u64::MAX));
        if end > FILE_SIZE {
            return Err(too_large("file", end, FILE_SIZE));
        }
        let (name, dtype, shape) = (json!(name), tensor.dtype, json!(tensor.shape));
        let _ = write!(header, r#",{name}:{{"dtype":"{dtype}","shape":{shape},"data_offsets":[{start},{end}]}}"#);
    }
    header.push('}');
    // The data begins at a multiple of 8 bytes.
    header.extend(std::iter::repeat_n(' ', header.len().next_multiple_of(LENGTH) - header.len()));

    let length = header.len() as u64;
    if length > HEADER_LIMIT {
        return Err(too_large("header", length, HEADER_LIMIT));
    }
    let mut start = Vec::with_capacity(LENGTH + header.len());
    start.extend(length.to_le_bytes());
    start.extend(header.as_bytes());
    let size = end + start.len() as u64;
    Ok(Plan { start, order: tensors.into_iter().map(|(name, _)| name.clone()).collect(), size })
}

/// The header, with tensors that follow each other without gaps and have the sizes of their shapes.
///
/// Not by `SafeTensors::deserialize`: it adds offsets from the file without a check for overflow.
pub(crate) fn parse(header: &[u8]) -> Result<Metadata, serde_json::Error> {
    serde_json::from_slice(header)
}

/// Size of the whole file by its header.
pub(crate) fn whole_size(header: &[u8], metadata: &Metadata) -> Option<u64> {
    u64::try_from(LENGTH.checked_add(header.len())?.checked_add(metadata.data_len())?).ok()
}
