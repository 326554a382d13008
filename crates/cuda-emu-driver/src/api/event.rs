//! Events.

use super::api;
use crate::core::driver::Driver;
use crate::raw::{Handle, Out, put, wanted};

api! {
    /// Makes an event.
    fn cuEventCreate(event: Out<'_, Handle>, flags: u32) {
        let out = wanted(event)?;
        out.write(Driver::get()?.create_event(flags)?);
        Ok(())
    }

    /// Records an event in a stream.
    fn cuEventRecord(event: Handle, stream: Handle) {
        let driver = Driver::get()?;
        driver.record(event, &*driver.stream(stream)?)
    }

    /// Whether the work before the record has run.
    fn cuEventQuery(event: Handle) {
        let driver = Driver::get()?;
        driver.events.get(event)?.query(driver)
    }

    /// Waits for the work before the record.
    fn cuEventSynchronize(event: Handle) {
        let driver = Driver::get()?;
        driver.events.get(event)?.synchronize(driver)
    }

    /// Milliseconds of the host between two records.
    fn cuEventElapsedTime(milliseconds: Out<'_, f32>, start: Handle, end: Handle) {
        let events = &Driver::get()?.events;
        put(milliseconds, events.get(start)?.elapsed(&*events.get(end)?)?)
    }

    /// Destroys an event. Work that waits for it still does.
    fn cuEventDestroy_v2(event: Handle) {
        Driver::get()?.events.remove(event).map(drop)
    }
}
