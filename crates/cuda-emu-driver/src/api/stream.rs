//! Streams.

use super::api;
use crate::core::driver::Driver;
use crate::error::invalid;
use crate::raw::{Handle, Out, put, wanted};

api! {
    /// Makes a stream.
    fn cuStreamCreate(stream: Out<'_, Handle>, flags: u32) {
        let out = wanted(stream)?;
        out.write(Driver::get()?.create_stream(flags)?);
        Ok(())
    }

    /// Makes a stream. Priorities beyond the range, which is 0 to 0, count as its ends.
    fn cuStreamCreateWithPriority(stream: Out<'_, Handle>, flags: u32, _priority: i32) {
        let out = wanted(stream)?;
        out.write(Driver::get()?.create_stream(flags)?);
        Ok(())
    }

    /// Destroys a stream after its work.
    fn cuStreamDestroy_v2(stream: Handle) {
        Driver::get()?.destroy_stream(stream)
    }

    /// Waits for all work of a stream.
    fn cuStreamSynchronize(stream: Handle) {
        let driver = Driver::get()?;
        driver.stream(stream)?.synchronize(driver)
    }

    /// Whether all work of a stream has run.
    fn cuStreamQuery(stream: Handle) {
        let driver = Driver::get()?;
        driver.stream(stream)?.query(driver)
    }

    /// Makes a stream wait for an event; flags must be 0, or 1 for an event from outside a capture.
    fn cuStreamWaitEvent(stream: Handle, event: Handle, flags: u32) {
        if flags > 1 {
            return Err(invalid!("there are no flags {flags:#x}"));
        }
        let driver = Driver::get()?;
        driver.wait(&*driver.stream(stream)?, event)
    }

    /// Flags of a stream.
    fn cuStreamGetFlags(stream: Handle, flags: Out<'_, u32>) {
        put(flags, Driver::get()?.stream(stream)?.flags)
    }

    /// The priority of a stream: 0.
    fn cuStreamGetPriority(stream: Handle, priority: Out<'_, i32>) {
        Driver::get()?.stream(stream)?;
        put(priority, 0)
    }

    /// Begins to capture what is submitted to a stream.
    fn cuStreamBeginCapture_v2(stream: Handle, mode: i32) {
        Driver::get()?.stream(stream)?.begin_capture(mode)
    }

    /// Ends a capture: the graph of what was submitted.
    fn cuStreamEndCapture(stream: Handle, graph: Out<'_, Handle>) {
        let out = wanted(graph)?;
        let driver = Driver::get()?;
        out.write(driver.stream(stream)?.end_capture(driver)?);
        Ok(())
    }

    /// 0 if a stream doesn't capture, 1 if it does, 2 if the capture is broken.
    fn cuStreamIsCapturing(stream: Handle, status: Out<'_, i32>) {
        put(status, Driver::get()?.stream(stream)?.capture_status() as i32)
    }
}
