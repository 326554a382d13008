//! Modules and attributes of functions.

use std::ffi::{c_char, c_void};

use super::api;
use crate::core::context::check_config;
use crate::core::driver::Driver;
use crate::error::{Result, invalid};
use crate::raw::{Handle, Out, put, text, wanted};

/// A string of C as UTF-8.
///
/// # Safety
/// As for [`text`].
pub(super) unsafe fn utf8<'a>(from: *const c_char) -> Result<&'a str> {
    // SAFETY: the caller's promise.
    let from = unsafe { text(from) }?;
    from.to_str().map_err(|error| invalid!("`{}`: {error}", from.to_string_lossy()))
}

/// Loads an image in memory.
///
/// # Safety
/// `image` is null or a string that ends with NUL, or machine code, which has a NUL somewhere too.
unsafe fn load(out: Out<'_, Handle>, image: *const c_void) -> Result<()> {
    let out = wanted(out)?;
    // SAFETY: the caller's promise.
    let image = unsafe { text(image.cast()) }?;
    out.write(Driver::get()?.load(image.to_bytes())?);
    Ok(())
}

api! {
    /// Loads a file of PTX.
    fn cuModuleLoad(module: Out<'_, Handle>, path: *const c_char) {
        let out = wanted(module)?;
        // SAFETY: the path is a string by the caller's promise.
        let path = unsafe { utf8(path) }?;
        out.write(Driver::get()?.load_file(path)?);
        Ok(())
    }

    /// Loads PTX that ends with NUL.
    fn cuModuleLoadData(module: Out<'_, Handle>, image: *const c_void) {
        // SAFETY: the image is a string by the caller's promise.
        unsafe { load(module, image) }
    }

    /// Loads PTX that ends with NUL. Options are for a compiler that isn't here: they change nothing.
    fn cuModuleLoadDataEx(
        module: Out<'_, Handle>, image: *const c_void, _count: u32, _options: *mut i32, _values: *mut *mut c_void,
    ) {
        // SAFETY: the image is a string by the caller's promise.
        unsafe { load(module, image) }
    }

    /// Unloads a module.
    fn cuModuleUnload(module: Handle) {
        Driver::get()?.unload(module)
    }

    /// A kernel of a module.
    fn cuModuleGetFunction(function: Out<'_, Handle>, module: Handle, name: *const c_char) {
        let out = wanted(function)?;
        // SAFETY: the name is a string by the caller's promise.
        let name = unsafe { utf8(name) }?;
        out.write(Driver::get()?.function(module, name)?);
        Ok(())
    }

    /// Address and size in bytes of a variable of a module. Null results are left out.
    fn cuModuleGetGlobal_v2(address: Out<'_, u64>, bytes: Out<'_, usize>, module: Handle, name: *const c_char) {
        // SAFETY: the name is a string by the caller's promise.
        let name = unsafe { utf8(name) }?;
        let (first, size) = Driver::get()?.global(module, name)?;
        if let Some(out) = address {
            out.write(first);
        }
        if let Some(out) = bytes {
            out.write(size as usize);
        }
        Ok(())
    }

    /// An attribute of a function.
    fn cuFuncGetAttribute(value: Out<'_, i32>, attribute: i32, function: Handle) {
        put(value, Driver::get()?.functions.get(function)?.attribute(attribute)?)
    }

    /// Sets an attribute of a function.
    fn cuFuncSetAttribute(function: Handle, attribute: i32, value: i32) {
        Driver::get()?.functions.get(function)?.set_attribute(attribute, value)
    }

    /// Sets the preference of cache or shared memory, which changes nothing here.
    fn cuFuncSetCacheConfig(function: Handle, config: i32) {
        Driver::get()?.functions.get(function)?;
        check_config(config, 3)
    }

    /// Sets the width of shared banks, which changes nothing here.
    fn cuFuncSetSharedMemConfig(function: Handle, config: i32) {
        Driver::get()?.functions.get(function)?;
        check_config(config, 2)
    }
}
