//! The stack of current contexts of each thread.

use std::cell::RefCell;
use std::sync::Arc;

use super::context::Context;
use super::driver::Driver;
use crate::error::{Error, Result};

thread_local! {
    static STACK: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

/// The handle of the current context, even of one that has been destroyed since; 0 when there is none.
pub(crate) fn handle() -> usize {
    STACK.with_borrow(|stack| stack.last().copied().unwrap_or(0))
}

impl Driver {
    /// The current context, which lives and has no fault.
    pub(crate) fn current(&self) -> Result<Arc<Context>> {
        let context = self.current_or_failed()?;
        context.check()?;
        Ok(context)
    }

    /// The current context, which lives but may have a fault.
    pub(crate) fn current_or_failed(&self) -> Result<Arc<Context>> {
        match handle() {
            0 => Err(Error::Context(0)),
            handle => self.contexts.get(handle).map_err(|_| Error::Destroyed),
        }
    }

    /// Puts a context on the stack.
    pub(crate) fn push(&self, handle: usize) -> Result<()> {
        self.context_of(handle)?;
        STACK.with_borrow_mut(|stack| stack.push(handle));
        Ok(())
    }

    /// Takes the current context off the stack; its handle.
    pub(crate) fn pop(&self) -> Result<usize> {
        STACK.with_borrow_mut(Vec::pop).ok_or(Error::Context(0))
    }

    /// Replaces the top of the stack; 0 only takes it off.
    pub(crate) fn set_current(&self, handle: usize) -> Result<()> {
        if handle != 0 {
            self.context_of(handle)?;
        }
        STACK.with_borrow_mut(|stack| {
            stack.pop();
            if handle != 0 {
                stack.push(handle);
            }
        });
        Ok(())
    }

    /// Takes a context that is destroyed off this thread's stack if it is the current one.
    pub(crate) fn forget(&self, handle: usize) {
        STACK.with_borrow_mut(|stack| {
            if stack.last() == Some(&handle) {
                stack.pop();
            }
        });
    }
}
