//! Running programs.

use crate::error::Error;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::{Command, Output};

/// A command that finds its own libraries: cargo sets these variables to the folder of its own toolchain's, and a compiler
/// that loads another's libraries takes that one's sysroot for its own.
pub(crate) fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.env_remove("LD_LIBRARY_PATH").env_remove("DYLD_FALLBACK_LIBRARY_PATH");
    command
}

/// Runs `command`; what it says belongs to the error if it fails.
pub(crate) fn output(command: &mut Command) -> Result<Output, Error> {
    let program = PathBuf::from(command.get_program());
    let output = command.output().map_err(|source| Error::Start { program: program.clone(), source })?;
    if output.status.success() {
        return Ok(output);
    }
    let said = if output.stderr.is_empty() { &output.stdout } else { &output.stderr };
    Err(Error::Failed { program, status: output.status, stderr: String::from_utf8_lossy(said).into_owned() })
}

/// Runs `command` for its standard output.
pub(crate) fn stdout(command: &mut Command) -> Result<String, Error> {
    Ok(String::from_utf8_lossy(&output(command)?.stdout).into_owned())
}
