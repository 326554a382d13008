//! What a file holds: names, types, shapes and strings, wherever the elements are.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::{Dtype, Element, Error, RESERVED};

/// A tensor. `data` is its elements (row-major, little-endian), or the way to them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tensor<D> {
    pub(crate) dtype: Dtype,
    pub(crate) shape: Vec<usize>,
    pub(crate) data: D,
}

/// Named tensors and strings.
#[derive(Clone, Debug)]
pub(crate) struct Contents<D> {
    pub(crate) tensors: BTreeMap<String, Tensor<D>>,
    pub(crate) metadata: BTreeMap<String, String>,
    /// The file they are from, for messages.
    pub(crate) origin: PathBuf,
}

/// Number of elements that `shape` holds, if a `usize` holds it.
pub(crate) fn elements(shape: &[usize]) -> Option<usize> {
    shape.iter().try_fold(1_usize, |n, &d| n.checked_mul(d))
}

impl<D> Contents<D> {
    pub(crate) fn new(origin: PathBuf) -> Self {
        Self { tensors: BTreeMap::new(), metadata: BTreeMap::new(), origin }
    }

    /// Whether a tensor of this name can be added.
    pub(crate) fn check_name(&self, name: &str) -> Result<(), Error> {
        let wrong = |reason| Err(Error::Name { name: name.into(), reason });
        if name.is_empty() || name == "__metadata__" {
            return wrong("is not a name for a tensor");
        }
        if self.tensors.contains_key(name) {
            return wrong("is there already");
        }
        Ok(())
    }

    pub(crate) fn put_metadata(&mut self, key: &str, value: &str) -> Result<(), Error> {
        if RESERVED.contains(&key) {
            return Err(Error::Name { name: key.into(), reason: "is a key of the format itself" });
        }
        if self.metadata.contains_key(key) {
            return Err(Error::Name { name: key.into(), reason: "is there already" });
        }
        self.metadata.insert(key.into(), value.into());
        Ok(())
    }

    pub(crate) fn metadata(&self, key: &str) -> Result<&str, Error> {
        let missing = || Error::MissingMetadata { path: self.origin.clone(), key: key.into() };
        self.metadata.get(key).map(String::as_str).ok_or_else(missing)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.tensors.keys().map(String::as_str)
    }

    pub(crate) fn info(&self, name: &str) -> Result<(Dtype, &[usize]), Error> {
        let tensor = self.find(name)?;
        Ok((tensor.dtype, &tensor.shape))
    }

    /// The tensor `name` of `T` and of this shape.
    pub(crate) fn tensor<T: Element>(&self, name: &str, shape: &[usize]) -> Result<&Tensor<D>, Error> {
        let tensor = self.of_type::<T>(name)?;
        if tensor.shape != shape {
            return Err(self.wrong_shape(name, format!("{shape:?}"), tensor));
        }
        Ok(tensor)
    }

    /// The tensor `name` of `T` with one dimension.
    pub(crate) fn vector<T: Element>(&self, name: &str) -> Result<&Tensor<D>, Error> {
        let tensor = self.of_type::<T>(name)?;
        if tensor.shape.len() != 1 {
            return Err(self.wrong_shape(name, "one dimension".into(), tensor));
        }
        Ok(tensor)
    }

    fn of_type<T: Element>(&self, name: &str) -> Result<&Tensor<D>, Error> {
        let tensor = self.find(name)?;
        if tensor.dtype != T::DTYPE {
            let (expected, got) = (T::DTYPE.to_string(), tensor.dtype.to_string());
            return Err(Error::Dtype { path: self.origin.clone(), tensor: name.into(), expected, got });
        }
        Ok(tensor)
    }

    fn find(&self, name: &str) -> Result<&Tensor<D>, Error> {
        let missing = || Error::MissingTensor { path: self.origin.clone(), tensor: name.into() };
        self.tensors.get(name).ok_or_else(missing)
    }

    fn wrong_shape(&self, name: &str, expected: String, got: &Tensor<D>) -> Error {
        Error::Shape { path: self.origin.clone(), tensor: name.into(), expected, got: got.shape.clone() }
    }
}
