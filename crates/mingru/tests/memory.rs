//! Sizes that can be addressed but not had are typed errors: an allocation that fails would end the process.

use mingru::{Error, MinGruStack};

#[test]
fn buffers_that_no_memory_holds_are_errors() {
    let stack = MinGruStack::new(64, 1 << 10).unwrap();
    let is_memory = |error: Error| assert!(matches!(error, Error::Memory { .. }), "{error}");
    is_memory(stack.tape(1 << 20, 1 << 20, 8).unwrap_err());
    is_memory(stack.step_scratch(1 << 40).unwrap_err());
    is_memory(MinGruStack::new(1 << 56, 0).unwrap().packed_weights().unwrap_err());
    let wide = MinGruStack::new(1, 1 << 24).unwrap();
    assert!(matches!(wide.packed_weights().unwrap_err(), Error::Product(_)));
}
