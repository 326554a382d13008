//! All state of the driver.

use std::sync::{Arc, Mutex, OnceLock};

use super::context::{Context, Primary};
use super::event::Event;
use super::graph::{Executable, Graph, Node};
use super::host::HostMemory;
use super::memory::Allocations;
use super::module::{Function, Module};
use super::registry::Registry;
use super::report::Report;
use super::settings::Settings;
use super::stream::Stream;
use crate::error::{Error, Result};

/// The driver, once `cuInit` has been called.
#[derive(Debug)]
pub(crate) struct Driver {
    pub(crate) settings: Settings,
    pub(crate) devices: Vec<cuda_emu::Device>,
    pub(crate) report: Report,
    pub(crate) allocations: Mutex<Allocations>,
    pub(crate) host: HostMemory,
    /// Of each device.
    pub(crate) primaries: Vec<Mutex<Primary>>,
    pub(crate) contexts: Registry<Context>,
    pub(crate) modules: Registry<Module>,
    pub(crate) functions: Registry<Function>,
    pub(crate) streams: Registry<Stream>,
    pub(crate) events: Registry<Event>,
    pub(crate) graphs: Registry<Graph>,
    pub(crate) nodes: Registry<Node>,
    pub(crate) executables: Registry<Executable>,
}

static DRIVER: OnceLock<Driver> = OnceLock::new();

impl Driver {
    /// The driver; an error before `cuInit`.
    pub(crate) fn get() -> Result<&'static Self> {
        DRIVER.get().ok_or(Error::NotInitialized)
    }

    /// Starts the driver. Only the first call reads the environment.
    pub(crate) fn init() -> Result<()> {
        if DRIVER.get().is_none() {
            let settings = Settings::from_environment()?;
            DRIVER.get_or_init(|| Self::new(settings));
        }
        Ok(())
    }

    fn new(settings: Settings) -> Self {
        Self {
            devices: (0..settings.devices).map(cuda_emu::Device::numbered).collect(),
            primaries: (0..settings.devices).map(|_| Mutex::default()).collect(),
            settings,
            report: Report::default(),
            allocations: Mutex::default(),
            host: HostMemory::default(),
            contexts: Registry::new("context", 1),
            modules: Registry::new("module", 2),
            functions: Registry::new("function", 3),
            streams: Registry::new("stream", 4),
            events: Registry::new("event", 5),
            graphs: Registry::new("graph", 6),
            nodes: Registry::new("node of a graph", 7),
            executables: Registry::new("executable graph", 8),
        }
    }

    /// The index of a device.
    pub(crate) fn index_of(&self, device: i32) -> Result<usize> {
        usize::try_from(device).ok().filter(|&index| index < self.devices.len()).ok_or(Error::Device(device))
    }

    pub(crate) fn device_of(&self, context: &Context) -> &cuda_emu::Device {
        &self.devices[context.device]
    }

    /// The device whose address it may be.
    pub(crate) fn device_at(&self, address: u64) -> &cuda_emu::Device {
        self.devices.iter().find(|device| device.has(address)).unwrap_or(&self.devices[0])
    }

    /// Ends what belongs to a context: its work runs to its end, then its objects and its memory go.
    pub(crate) fn release(&self, context: &Arc<Context>) {
        // A fault of this work has nobody left to tell but stderr, which has it.
        let _ = context.synchronize(self);
        let of_another = |other: &Arc<Context>| other.number != context.number;
        self.streams.retain(|stream| of_another(&stream.context));
        self.events.retain(|event| of_another(&event.context));
        self.functions.retain(|function| of_another(&function.module.context));
        self.modules.retain(|module| {
            let keep = of_another(&module.context);
            if !keep {
                self.device_of(&module.context).unload(&module.code);
            }
            keep
        });
        self.free_all(context.number);
        self.report.tell();
    }
}
