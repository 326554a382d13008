//! Contexts.

use super::api;
use crate::core::{current, driver::Driver};
use crate::raw::{Handle, Out, put, wanted};

api! {
    /// Makes a context and makes it current.
    fn cuCtxCreate_v2(context: Out<'_, Handle>, flags: u32, device: i32) {
        let out = wanted(context)?;
        let driver = Driver::get()?;
        let handle = driver.create_context(flags, device)?;
        driver.push(handle)?;
        out.write(handle);
        Ok(())
    }

    /// Destroys a context with all that belongs to it.
    fn cuCtxDestroy_v2(context: Handle) {
        let driver = Driver::get()?;
        driver.destroy_context(context)?;
        driver.forget(context);
        Ok(())
    }

    /// Makes a context current on top of others.
    fn cuCtxPushCurrent_v2(context: Handle) {
        Driver::get()?.push(context)
    }

    /// Takes the current context off.
    fn cuCtxPopCurrent_v2(context: Out<'_, Handle>) {
        let handle = Driver::get()?.pop()?;
        // The result is optional here.
        if let Some(out) = context {
            out.write(handle);
        }
        Ok(())
    }

    /// Replaces the current context.
    fn cuCtxSetCurrent(context: Handle) {
        Driver::get()?.set_current(context)
    }

    /// The current context, or null.
    fn cuCtxGetCurrent(context: Out<'_, Handle>) {
        Driver::get()?;
        put(context, current::handle())
    }

    /// The device of the current context.
    fn cuCtxGetDevice(device: Out<'_, i32>) {
        put(device, Driver::get()?.current_or_failed()?.device as i32)
    }

    /// The version of a context; null is the current one.
    fn cuCtxGetApiVersion(context: Handle, version: Out<'_, u32>) {
        let driver = Driver::get()?;
        if context == 0 { driver.current_or_failed()? } else { driver.context_of(context)? };
        // That of contexts from `cuCtxCreate_v2`.
        put(version, 3020)
    }

    /// Flags of the current context.
    fn cuCtxGetFlags(flags: Out<'_, u32>) {
        put(flags, Driver::get()?.current_or_failed()?.flags())
    }

    /// A limit of the current context.
    fn cuCtxGetLimit(value: Out<'_, usize>, limit: i32) {
        put(value, Driver::get()?.current()?.limit(limit)?)
    }

    /// Sets a limit of the current context.
    fn cuCtxSetLimit(limit: i32, value: usize) {
        Driver::get()?.current()?.set_limit(limit, value)
    }

    /// Preference of cache or shared memory.
    fn cuCtxGetCacheConfig(config: Out<'_, i32>) {
        put(config, Driver::get()?.current()?.cache())
    }

    /// Sets the preference of cache or shared memory, which changes nothing here.
    fn cuCtxSetCacheConfig(config: i32) {
        Driver::get()?.current()?.set_cache(config)
    }

    /// Width of shared banks.
    fn cuCtxGetSharedMemConfig(config: Out<'_, i32>) {
        put(config, Driver::get()?.current()?.banks())
    }

    /// Sets the width of shared banks, which changes nothing here.
    fn cuCtxSetSharedMemConfig(config: i32) {
        Driver::get()?.current()?.set_banks(config)
    }

    /// Least and greatest priority of streams: both 0. Null results are left out.
    fn cuCtxGetStreamPriorityRange(least: Out<'_, i32>, greatest: Out<'_, i32>) {
        Driver::get()?.current()?;
        for out in [least, greatest].into_iter().flatten() {
            out.write(0);
        }
        Ok(())
    }

    /// Waits for all work of the current context.
    fn cuCtxSynchronize() {
        let driver = Driver::get()?;
        driver.current()?.synchronize(driver)
    }
}
