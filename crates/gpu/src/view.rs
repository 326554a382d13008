//! Parts of buffers.

use crate::driver::check;
use crate::memory::Memory;
use crate::{Device, Error, Pod, Stream};
use bytemuck::cast_slice;
use cust::sys::{self, CUdeviceptr};
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

/// Consecutive elements of a [`Buffer`](crate::Buffer), to read from.
#[derive(Debug)]
pub struct View<'a, T> {
    memory: &'a Arc<Memory>,
    /// Bytes before the first element.
    offset: usize,
    len: usize,
    elements: PhantomData<&'a [T]>,
}

impl<T> Clone for View<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for View<'_, T> {}

/// Consecutive elements of a [`Buffer`](crate::Buffer), to write to. Nothing else can be made of them meanwhile.
#[derive(Debug)]
pub struct ViewMut<'a, T> {
    part: View<'a, T>,
    elements: PhantomData<&'a mut [T]>,
}

impl<'a, T> View<'a, T> {
    pub(crate) fn whole(memory: &'a Arc<Memory>, len: usize) -> Self {
        Self { memory, offset: 0, len, elements: PhantomData }
    }

    /// Elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Where it is.
    pub fn device(&self) -> &'a Device {
        &self.memory.device
    }

    /// A part of it.
    ///
    /// # Errors
    /// [`Error::Range`].
    pub fn slice(self, range: Range<usize>) -> Result<Self, Error> {
        let Range { start, end } = range;
        if start > end || end > self.len {
            return Err(Error::Range { start, end, len: self.len });
        }
        // Inside of an allocation, so it doesn't overflow.
        Ok(Self { offset: self.offset + start * size_of::<T>(), len: end - start, ..self })
    }

    pub(crate) fn memory(&self) -> &'a Arc<Memory> {
        self.memory
    }

    /// The address of the first element; not to be followed if there is none.
    pub(crate) fn address(&self) -> CUdeviceptr {
        // Inside of an allocation, so it doesn't overflow.
        self.memory.address + self.offset as CUdeviceptr
    }

    fn bytes(&self) -> usize {
        self.len * size_of::<T>()
    }

    pub(crate) fn check(&self, operation: &'static str, stream: &Stream, len: usize) -> Result<(), Error> {
        if self.device() != stream.device() {
            return Err(Error::OtherDevice { operation });
        }
        if len == self.len { Ok(()) } else { Err(Error::Length { operation, expected: self.len, got: len }) }
    }
}

impl<'a, T: Pod> View<'a, T> {
    /// The same bytes as elements of another type; none where they aren't whole elements, or begin where none can.
    pub fn cast<U: Pod>(self) -> Option<View<'a, U>> {
        let bytes = self.bytes();
        let fits = bytes.checked_rem(size_of::<U>()) == Some(0)
            && self.address().is_multiple_of(align_of::<U>() as CUdeviceptr);
        let len = bytes.checked_div(size_of::<U>())?;
        fits.then_some(View { memory: self.memory, offset: self.offset, len, elements: PhantomData })
    }

    /// The same bytes.
    pub fn as_bytes(self) -> View<'a, u8> {
        View { memory: self.memory, offset: self.offset, len: self.bytes(), elements: PhantomData }
    }

    /// Copies to the host, after the work of the stream so far; waits for it.
    ///
    /// # Errors
    /// [`Error::Length`], [`Error::OtherDevice`], [`Error::Capturing`], [`Error::Driver`].
    pub fn read(self, stream: &Stream, to: &mut [T]) -> Result<(), Error> {
        self.check("View::read", stream, to.len())?;
        let to: &mut [u8] = bytemuck::cast_slice_mut(to);
        stream.outside_capture("a copy to the host", |raw| {
            if !to.is_empty() {
                // SAFETY: both have so many bytes, and the copy has ended when this function returns.
                let code = unsafe { sys::cuMemcpyDtoHAsync_v2(to.as_mut_ptr().cast(), self.address(), to.len(), raw) };
                check("cuMemcpyDtoHAsync", code)?;
            }
            stream.finish()
        })
    }

    /// A copy for the host, after the work of the stream so far; waits for it.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn to_vec(self, stream: &Stream) -> Result<Vec<T>, Error> {
        let mut elements = vec![T::zeroed(); self.len];
        self.read(stream, &mut elements)?;
        Ok(elements)
    }
}

impl<'a, T> ViewMut<'a, T> {
    pub(crate) fn whole(memory: &'a Arc<Memory>, len: usize) -> Self {
        Self::of(View::whole(memory, len))
    }

    fn of(part: View<'a, T>) -> Self {
        Self { part, elements: PhantomData }
    }

    /// Elements.
    pub fn len(&self) -> usize {
        self.part.len
    }

    /// Whether it has no elements.
    pub fn is_empty(&self) -> bool {
        self.part.is_empty()
    }

    /// To read from.
    pub fn view(&self) -> View<'_, T> {
        self.part
    }

    pub(crate) fn part(&self) -> &View<'a, T> {
        &self.part
    }

    /// The same for a shorter time.
    pub fn reborrow(&mut self) -> ViewMut<'_, T> {
        ViewMut::of(self.part)
    }

    /// A part of it.
    ///
    /// # Errors
    /// [`Error::Range`].
    pub fn slice(self, range: Range<usize>) -> Result<Self, Error> {
        Ok(Self::of(self.part.slice(range)?))
    }

    /// The first `middle` elements, and the others.
    ///
    /// # Errors
    /// [`Error::Range`].
    pub fn split_at(self, middle: usize) -> Result<(Self, Self), Error> {
        let len = self.len();
        Ok((Self::of(self.part.slice(0..middle)?), Self::of(self.part.slice(middle..len)?)))
    }
}

impl<'a, T: Pod> ViewMut<'a, T> {
    /// As [`View::cast`].
    pub fn cast<U: Pod>(self) -> Option<ViewMut<'a, U>> {
        self.part.cast().map(ViewMut::of)
    }

    /// Copies from the host, after the work of the stream so far; waits for it.
    ///
    /// # Errors
    /// [`Error::Length`], [`Error::OtherDevice`], [`Error::Capturing`], [`Error::Driver`].
    pub fn write(&mut self, stream: &Stream, from: &[T]) -> Result<(), Error> {
        self.part.check("ViewMut::write", stream, from.len())?;
        let from: &[u8] = cast_slice(from);
        stream.outside_capture("a copy from the host", |raw| {
            if !from.is_empty() {
                // SAFETY: both have so many bytes, and the copy has ended when this function returns.
                let code =
                    unsafe { sys::cuMemcpyHtoDAsync_v2(self.part.address(), from.as_ptr().cast(), from.len(), raw) };
                check("cuMemcpyHtoDAsync", code)?;
            }
            stream.finish()
        })
    }

    /// Copies on the device, in the order of the stream.
    ///
    /// # Errors
    /// [`Error::Length`], [`Error::OtherDevice`], [`Error::Driver`].
    pub fn copy_from(&mut self, stream: &Stream, from: View<'_, T>) -> Result<(), Error> {
        self.part.check("ViewMut::copy_from", stream, from.len)?;
        from.check("ViewMut::copy_from", stream, from.len)?;
        if self.part.bytes() == 0 {
            return Ok(());
        }
        stream.submit([self.part.memory, from.memory], |raw| {
            // SAFETY: both have so many bytes; they don't overlap, since nothing else is made of these elements.
            let code = unsafe { sys::cuMemcpyDtoDAsync_v2(self.part.address(), from.address(), from.bytes(), raw) };
            check("cuMemcpyDtoDAsync", code)
        })
    }

    /// Sets all bytes to zero, in the order of the stream.
    ///
    /// # Errors
    /// [`Error::OtherDevice`], [`Error::Driver`].
    pub fn zero(&mut self, stream: &Stream) -> Result<(), Error> {
        self.part.check("ViewMut::zero", stream, self.part.len)?;
        if self.part.bytes() == 0 {
            return Ok(());
        }
        stream.submit([self.part.memory], |raw| {
            // SAFETY: there are so many bytes.
            let code = unsafe { sys::cuMemsetD8Async(self.part.address(), 0, self.part.bytes(), raw) };
            check("cuMemsetD8Async", code)
        })
    }
}
