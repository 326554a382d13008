//! Functions that exist so that programs which could call them can be linked. They say that they aren't supported.
//! Their arguments aren't looked at, and aren't declared: in the calling convention of C the caller removes them.

use super::api;
use crate::error::Error;

/// Exports functions that aren't supported.
macro_rules! unsupported {
    ($($what:literal: $($name:ident)*;)*) => {
        api! {
            $($(
                #[doc = concat!($what, ": not supported.")]
                fn $name() {
                    Err(Error::NotSupported($what))
                }
            )*)*
        }
    };
}

unsupported! {
    "Managed memory": cuMemAllocManaged cuMemAdvise cuMemPrefetchAsync;
    "Arrays": cuArray3DCreate_v2 cuArray3DGetDescriptor_v2 cuArrayDestroy cuMemcpy2D_v2 cuMemcpyAtoH_v2 cuMemcpyHtoA_v2;
    "Textures": cuTexObjectCreate cuTexObjectDestroy cuTexObjectGetResourceDesc cuTexObjectGetResourceViewDesc;
    "Surfaces": cuSurfObjectCreate cuSurfObjectDestroy cuSurfObjectGetResourceDesc;
    "Memory of other APIs": cuImportExternalMemory cuExternalMemoryGetMappedBuffer cuDestroyExternalMemory;
    "The linker": cuLinkCreate_v2 cuLinkAddData_v2 cuLinkComplete cuLinkDestroy;
}
