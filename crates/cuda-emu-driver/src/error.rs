//! Why a call fails, and the code that it returns.

use std::ffi::CStr;

use cuda_emu::{Fault, FaultKind, LoadError, MemoryError};

/// Names, numbers and texts of codes.
macro_rules! codes {
    ($($variant:ident = $value:literal, $name:literal, $text:literal;)*) => {
        /// A result of the driver API: those that this driver returns, with the numbers of `cuda.h`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(i32)]
        pub enum Code {
            $(#[doc = $text] $variant = $value,)*
        }

        impl Code {
            /// All codes.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// Its name in `cuda.h`.
            pub fn name(self) -> &'static CStr {
                match self { $(Self::$variant => $name,)* }
            }

            /// What it means.
            pub fn text(self) -> &'static CStr {
                // Text literals have no NUL inside; the `concat!` adds the one at the end.
                match self {
                    $(Self::$variant => {
                        const TEXT: &CStr = match CStr::from_bytes_with_nul(concat!($text, "\0").as_bytes()) {
                            Ok(text) => text,
                            Err(_) => panic!("NUL inside a text"),
                        };
                        TEXT
                    })*
                }
            }
        }
    };
}

codes! {
    Success = 0, c"CUDA_SUCCESS", "no error";
    InvalidValue = 1, c"CUDA_ERROR_INVALID_VALUE", "invalid argument";
    OutOfMemory = 2, c"CUDA_ERROR_OUT_OF_MEMORY", "out of memory";
    NotInitialized = 3, c"CUDA_ERROR_NOT_INITIALIZED", "initialization error";
    InvalidDevice = 101, c"CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal";
    InvalidImage = 200, c"CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid";
    InvalidContext = 201, c"CUDA_ERROR_INVALID_CONTEXT", "invalid device context";
    NoBinaryForGpu = 209, c"CUDA_ERROR_NO_BINARY_FOR_GPU", "no kernel image is available for execution on the device";
    UnsupportedLimit = 215, c"CUDA_ERROR_UNSUPPORTED_LIMIT", "limit is not supported on this architecture";
    InvalidPtx = 218, c"CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed";
    FileNotFound = 301, c"CUDA_ERROR_FILE_NOT_FOUND", "file not found";
    OperatingSystem = 304, c"CUDA_ERROR_OPERATING_SYSTEM", "OS call failed or operation not supported on this OS";
    InvalidHandle = 400, c"CUDA_ERROR_INVALID_HANDLE", "invalid resource handle";
    NotFound = 500, c"CUDA_ERROR_NOT_FOUND", "named symbol not found";
    NotReady = 600, c"CUDA_ERROR_NOT_READY", "device not ready";
    IllegalAddress = 700, c"CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered";
    LaunchOutOfResources = 701, c"CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch";
    LaunchTimeout = 702, c"CUDA_ERROR_LAUNCH_TIMEOUT", "the launch timed out and was terminated";
    ContextIsDestroyed = 709, c"CUDA_ERROR_CONTEXT_IS_DESTROYED", "context is destroyed";
    Assert = 710, c"CUDA_ERROR_ASSERT", "device-side assert triggered";
    HardwareStackError = 714, c"CUDA_ERROR_HARDWARE_STACK_ERROR", "hardware stack error";
    IllegalInstruction = 715, c"CUDA_ERROR_ILLEGAL_INSTRUCTION", "an illegal instruction was encountered";
    MisalignedAddress = 716, c"CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address";
    InvalidPc = 718, c"CUDA_ERROR_INVALID_PC", "invalid program counter";
    LaunchFailed = 719, c"CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure";
    NotPermitted = 800, c"CUDA_ERROR_NOT_PERMITTED", "operation not permitted";
    NotSupported = 801, c"CUDA_ERROR_NOT_SUPPORTED", "operation not supported";
    CaptureUnsupported = 900, c"CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "operation not permitted when stream is capturing";
    CaptureInvalidated = 901, c"CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", "operation failed due to a previous error during capture";
    CaptureImplicit = 906, c"CUDA_ERROR_STREAM_CAPTURE_IMPLICIT", "operation would make the legacy stream depend on a capturing blocking stream";
    IllegalState = 401, c"CUDA_ERROR_ILLEGAL_STATE", "the operation cannot be performed in the present state";
    Unknown = 999, c"CUDA_ERROR_UNKNOWN", "unknown error";
}

/// A call that fails.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("{0}")]
    Value(String),
    #[error("{handle:#x} is no {kind}, or none any more")]
    Handle { kind: &'static str, handle: usize },
    #[error("cuInit hasn't been called")]
    NotInitialized,
    #[error("there is no device {0}")]
    Device(i32),
    #[error("no context is current, or {0:#x} is none")]
    Context(usize),
    #[error("the current context is destroyed")]
    Destroyed,
    #[error("no memory for {0} bytes")]
    OutOfMemory(u64),
    #[error("{0}")]
    Image(String),
    #[error("machine code; only PTX can be loaded")]
    Binary,
    #[error("PTX, {0}")]
    Ptx(#[from] LoadError),
    #[error("{path}: {error}")]
    File { path: String, error: std::io::Error },
    #[error("there is no `{0}`")]
    NotFound(String),
    #[error("not ready")]
    NotReady,
    #[error("{0}")]
    Resources(String),
    #[error("there is no limit {0}")]
    Limit(i32),
    #[error("a host function calls the driver")]
    InCallback,
    #[error("{0} is not supported by the emulated device")]
    NotSupported(&'static str),
    #[error("{0} while the stream captures")]
    Captures(&'static str),
    #[error("the capture was broken by a call that it doesn't allow")]
    CaptureInvalidated,
    #[error("work on the legacy stream while a blocking stream captures")]
    CaptureImplicit,
    #[error("{0}")]
    State(&'static str),
    #[error("{0}")]
    Fault(#[from] Box<Fault>),
    #[error("the launch failed when it ran: {0}")]
    Launch(String),
    #[error("a copy failed when it ran: {0}")]
    Copy(MemoryError),
    #[error("an earlier fault: {}", .0.text().to_string_lossy())]
    Sticky(Code),
}

/// What the layers below `api` return.
pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// The code that the caller gets.
    pub(crate) fn code(&self) -> Code {
        match self {
            Self::Value(_) => Code::InvalidValue,
            Self::Handle { .. } => Code::InvalidHandle,
            Self::NotInitialized => Code::NotInitialized,
            Self::Device(_) => Code::InvalidDevice,
            Self::Context(_) => Code::InvalidContext,
            Self::Destroyed => Code::ContextIsDestroyed,
            Self::OutOfMemory(_) => Code::OutOfMemory,
            Self::Image(_) => Code::InvalidImage,
            Self::Binary => Code::NoBinaryForGpu,
            Self::Ptx(_) => Code::InvalidPtx,
            Self::File { error, .. } if error.kind() == std::io::ErrorKind::NotFound => Code::FileNotFound,
            Self::File { .. } => Code::OperatingSystem,
            Self::NotFound(_) => Code::NotFound,
            Self::NotReady => Code::NotReady,
            Self::Resources(_) => Code::LaunchOutOfResources,
            Self::Limit(_) => Code::UnsupportedLimit,
            Self::InCallback => Code::NotPermitted,
            Self::NotSupported(_) => Code::NotSupported,
            Self::Captures(_) => Code::CaptureUnsupported,
            Self::CaptureInvalidated => Code::CaptureInvalidated,
            Self::CaptureImplicit => Code::CaptureImplicit,
            Self::State(_) => Code::IllegalState,
            Self::Fault(fault) => code_of(&fault.kind),
            Self::Launch(_) => Code::LaunchFailed,
            Self::Copy(_) => Code::IllegalAddress,
            Self::Sticky(code) => *code,
        }
    }

    /// Whether the call that returns it should tell stderr what a code alone doesn't. Programs poll, and ask for
    /// symbols that may be missing; that stays silent. Faults have been reported when they happened.
    pub(crate) fn is_loud(&self) -> bool {
        !matches!(
            self,
            Self::NotReady | Self::Sticky(_) | Self::NotFound(_) | Self::Fault(_) | Self::Launch(_) | Self::Copy(_)
        )
    }
}

/// The code that a GPU gives for a fault. What only this device sees, such as races, is a failed launch.
fn code_of(kind: &FaultKind) -> Code {
    match kind {
        FaultKind::OutOfBounds { .. } | FaultKind::UseAfterFree { .. } | FaultKind::ReadOnly => Code::IllegalAddress,
        FaultKind::Misaligned { .. } => Code::MisalignedAddress,
        FaultKind::Deadlock | FaultKind::DivergentExchange { .. } | FaultKind::StepLimit { .. } => Code::LaunchTimeout,
        FaultKind::BadBarrier { .. } | FaultKind::BadBranch { .. } => Code::IllegalInstruction,
        FaultKind::StackOverflow => Code::HardwareStackError,
        FaultKind::BadCall { .. } => Code::InvalidPc,
        FaultKind::Assertion(_) => Code::Assert,
        _ => Code::LaunchFailed,
    }
}

impl From<MemoryError> for Error {
    fn from(error: MemoryError) -> Self {
        match error {
            MemoryError::OutOfMemory { bytes } => Self::OutOfMemory(bytes),
            other => Self::Value(other.to_string()),
        }
    }
}

/// A value out of range, in words.
macro_rules! invalid {
    ($($argument:tt)*) => {
        $crate::error::Error::Value(format!($($argument)*))
    };
}
pub(crate) use invalid;
