//! Graphs: recorded work.

use crate::driver::check;
use crate::memory::Memory;
use crate::stream::Recording;
use crate::{Device, Error, Stream};
use cust::sys::{self, CUgraph, CUgraphExec};
use std::ptr;
use std::sync::Arc;

/// Work of a stream, recorded once and submitted with one call. It keeps the memory that it uses.
///
/// Arguments are recorded by value: a replay uses the same arrays and numbers. What must change from one replay to the
/// next lies in an array.
#[derive(Debug)]
pub struct Graph {
    executable: CUgraphExec,
    device: Device,
    operations: usize,
    /// Freed after the executable is destroyed.
    _memory: Vec<Arc<Memory>>,
}

// SAFETY: a handle of the driver, whose functions any thread may call.
unsafe impl Send for Graph {}
// SAFETY: as above; a launch doesn't change the graph.
unsafe impl Sync for Graph {}

/// `CUDA_GRAPH_INSTANTIATE`: no flags.
const NO_FLAGS: u64 = 0;

impl Graph {
    /// Records what `work` submits to the stream; nothing of it runs.
    ///
    /// Launches, fills and copies on the device can be recorded; copies to and from the host, events and waiting can't,
    /// nor can work on other streams. Memory may be allocated and freed meanwhile.
    ///
    /// # Errors
    /// What `work` returns; [`Error::Capturing`] if the stream is being captured already; [`Error::Driver`].
    pub fn capture<E: From<Error>>(stream: &Stream, work: impl FnOnce(&Stream) -> Result<(), E>) -> Result<Self, E> {
        stream.begin_capture()?;
        let capture = Capture { stream, ended: false };
        // Also after an error or a panic the stream isn't left in capture.
        work(stream)?;
        let (recorded, recording) = capture.end()?;
        Ok(Self::instantiate(stream.device(), &recorded, recording)?)
    }

    fn instantiate(device: &Device, recorded: &Recorded, recording: Recording) -> Result<Self, Error> {
        let mut operations = 0;
        // SAFETY: the graph exists, and the count may be written.
        let counted = unsafe { sys::cuGraphGetNodes(recorded.0, ptr::null_mut(), &raw mut operations) };
        check("cuGraphGetNodes", counted)?;
        let mut executable = ptr::null_mut();
        // SAFETY: the graph exists, and the handle may be written.
        let made = unsafe { sys::cuGraphInstantiateWithFlags(&raw mut executable, recorded.0, NO_FLAGS) };
        check("cuGraphInstantiateWithFlags", made)?;
        Ok(Self { executable, device: device.clone(), operations, _memory: recording.memory })
    }

    /// Operations of one replay.
    pub fn operations(&self) -> usize {
        self.operations
    }

    /// Submits the work to a stream of the same device. Replays run one after the other, also on several streams.
    ///
    /// # Errors
    /// [`Error::OtherDevice`], [`Error::Capturing`], [`Error::Driver`].
    pub fn launch(&self, stream: &Stream) -> Result<(), Error> {
        if self.device != *stream.device() {
            return Err(Error::OtherDevice { operation: "Graph::launch" });
        }
        stream.outside_capture("a launch of a graph", |raw| {
            // SAFETY: both exist, and so does all memory that the graph uses.
            Ok(check("cuGraphLaunch", unsafe { sys::cuGraphLaunch(self.executable, raw) })?)
        })
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        if self.device.bind().is_ok() {
            // SAFETY: the graph exists; the driver keeps what runs until it has run. An error would be of work before.
            let _ = unsafe { sys::cuGraphExecDestroy(self.executable) };
        }
    }
}

/// A capture that goes on.
struct Capture<'s> {
    stream: &'s Stream,
    ended: bool,
}

impl Capture<'_> {
    fn end(mut self) -> Result<(Recorded, Recording), Error> {
        self.ended = true;
        let (graph, recording) = self.stream.end_capture()?;
        Ok((Recorded(graph), recording))
    }
}

impl Drop for Capture<'_> {
    fn drop(&mut self) {
        if !self.ended {
            // The error that ended the work is the one to tell.
            let _ = self.stream.end_capture().map(|(graph, _)| Recorded(graph));
        }
    }
}

/// A graph as recorded.
struct Recorded(CUgraph);

impl Drop for Recorded {
    fn drop(&mut self) {
        if !self.0.is_null() {
            // SAFETY: the graph exists, and what was made of it is independent of it.
            let _ = unsafe { sys::cuGraphDestroy(self.0) };
        }
    }
}
