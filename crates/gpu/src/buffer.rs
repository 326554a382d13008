//! Typed device memory.

use crate::memory::Memory;
use crate::{Device, Error, Pod, Stream, View, ViewMut};
use std::marker::PhantomData;
use std::sync::Arc;

/// Elements of type `T` in the memory of a device.
///
/// It is freed after all work that uses it; a [`Graph`](crate::Graph) keeps the buffers that it uses.
#[derive(Debug)]
pub struct Buffer<T> {
    memory: Arc<Memory>,
    len: usize,
    elements: PhantomData<T>,
}

impl<T: Pod> Buffer<T> {
    /// `len` elements with whatever the memory holds.
    ///
    /// # Errors
    /// [`Error::TooLarge`], [`Error::Driver`].
    pub fn uninit(device: &Device, len: usize) -> Result<Self, Error> {
        let bytes = len.checked_mul(size_of::<T>()).ok_or(Error::TooLarge { elements: len, bytes: size_of::<T>() })?;
        Ok(Self { memory: Arc::new(Memory::new(device, bytes)?), len, elements: PhantomData })
    }

    /// `len` elements whose bytes the stream sets to zero.
    ///
    /// # Errors
    /// [`Error::TooLarge`], [`Error::Driver`].
    pub fn zeroed(stream: &Stream, len: usize) -> Result<Self, Error> {
        let mut buffer = Self::uninit(stream.device(), len)?;
        buffer.view_mut().zero(stream)?;
        Ok(buffer)
    }

    /// A copy of `elements`.
    ///
    /// # Errors
    /// [`Error::Driver`], [`Error::Capturing`].
    pub fn from_slice(stream: &Stream, elements: &[T]) -> Result<Self, Error> {
        let mut buffer = Self::uninit(stream.device(), elements.len())?;
        buffer.view_mut().write(stream, elements)?;
        Ok(buffer)
    }

    /// A copy for the host, after the work of the stream.
    ///
    /// # Errors
    /// [`Error::Driver`], [`Error::Capturing`], [`Error::OtherDevice`].
    pub fn to_vec(&self, stream: &Stream) -> Result<Vec<T>, Error> {
        self.view().to_vec(stream)
    }

    /// All of it, to read from.
    pub fn view(&self) -> View<'_, T> {
        View::whole(&self.memory, self.len)
    }

    /// All of it, to write to.
    pub fn view_mut(&mut self) -> ViewMut<'_, T> {
        ViewMut::whole(&self.memory, self.len)
    }
}

impl<T> Buffer<T> {
    /// Elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Where it is.
    pub fn device(&self) -> &Device {
        &self.memory.device
    }
}
