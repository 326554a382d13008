//! What a stream does on the device or the host.

use std::sync::Arc;

use cuda_emu::{LaunchError, Options};

use super::context::Context;
use super::driver::Driver;
use super::launch::Launch;
use crate::error::{Error, Result};
use crate::raw::{HostCall, HostRange, buffer};

/// One command, checked as far as it can be before it runs.
#[derive(Clone, Debug)]
pub(crate) enum Command {
    /// Runs a kernel.
    Launch(Arc<Launch>),
    /// Copies bytes that were read from the host already.
    CopyStaged { to: u64, from: Arc<[u8]> },
    /// Copies from the host.
    CopyIn { to: u64, from: HostRange },
    /// Copies to the host.
    CopyOut { to: HostRange, from: u64 },
    /// Copies on the device.
    Copy { to: u64, from: u64, bytes: u64 },
    /// Fills `count` elements of `width` bytes with a value.
    Fill { to: u64, value: u32, width: usize, count: u64 },
    /// Calls a host function.
    Call(HostCall),
    /// Frees memory.
    Free { address: u64 },
}

impl Command {
    /// Its kind, in words.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Launch(launch) => launch.function.info.name.clone(),
            Self::CopyStaged { .. } | Self::CopyIn { .. } => "copy to the device".into(),
            Self::CopyOut { .. } => "copy to the host".into(),
            Self::Copy { .. } => "copy".into(),
            Self::Fill { .. } => "fill".into(),
            Self::Call(_) => "host function".into(),
            Self::Free { .. } => "free".into(),
        }
    }

    /// Runs it.
    ///
    /// # Errors
    /// A fault, after which the context is of no use.
    pub(crate) fn run(&self, driver: &Driver, context: &Context) -> Result<()> {
        match self {
            Self::Launch(launch) => launch_now(driver, context, launch),
            Self::CopyStaged { to, from } => driver.device_at(*to).write(*to, from).map_err(Error::Copy),
            Self::CopyIn { to, from } => driver.device_at(*to).write(*to, &from.read()?).map_err(Error::Copy),
            Self::CopyOut { to, from } => {
                let mut bytes = buffer(to.bytes())?;
                driver.device_at(*from).read(*from, &mut bytes).map_err(Error::Copy)?;
                to.write(&bytes);
                Ok(())
            }
            Self::Copy { to, from, bytes } => copy(driver, *to, *from, *bytes),
            Self::Fill { to, value, width, count } => {
                driver.device_at(*to).fill(*to, &value.to_le_bytes()[..*width], *count).map_err(Error::Copy)
            }
            Self::Call(call) => {
                call.run();
                Ok(())
            }
            Self::Free { address } => driver.free(*address),
        }
    }
}

/// Copies on a device, or from one to another by way of the host.
fn copy(driver: &Driver, to: u64, from: u64, bytes: u64) -> Result<()> {
    let (source, target) = (driver.device_at(from), driver.device_at(to));
    if source.has(to) {
        return source.copy(to, from, bytes).map_err(Error::Copy);
    }
    let mut staged = buffer(bytes as usize)?;
    source.read(from, &mut staged).map_err(Error::Copy)?;
    target.write(to, &staged).map_err(Error::Copy)
}

fn launch_now(driver: &Driver, context: &Context, launch: &Launch) -> Result<()> {
    let options = Options { stack_bytes: context.stack_bytes(), ..driver.settings.options.clone() };
    let function = &launch.function;
    let code = &function.module.code;
    let device = driver.device_of(context);
    let result = device.launch(code, &function.info.name, &launch.grid, &launch.parameters, &options);
    let output = device.take_output();
    if !output.is_empty() {
        print!("{output}");
    }
    match result {
        Ok(counters) => {
            let tell = driver.settings.counters;
            driver.report.launched(tell, &function.info.name, &launch.grid, &counters);
            Ok(())
        }
        Err(LaunchError::Fault(fault)) => Err(Error::Fault(fault)),
        Err(LaunchError::Memory(error)) => Err(error.into()),
        Err(other) => Err(Error::Launch(other.to_string())),
    }
}
