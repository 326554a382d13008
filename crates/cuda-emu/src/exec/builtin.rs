//! Functions that the device's runtime provides: `vprintf`, `malloc`, `free` and `__assertfail`.

use super::env::{Env, Place};
use super::request::window;
use super::step::lanes;
use super::warp::{Activation, Warp};
use crate::fault::{Fault, FaultKind};
use crate::lanes::{read_lane, write_lane};
use crate::program::{Call, Slot};
use crate::types::Space;

/// Longest text that a kernel may hand over, in bytes.
const TEXT: u64 = 1 << 16;

impl Warp {
    /// Calls a function that the module only declares.
    pub(super) fn builtin(
        &mut self,
        env: &mut Env<'_>,
        caller: &mut Activation,
        function: usize,
        call: &Call,
        mask: u32,
        place: Place,
    ) -> Result<(), Box<Fault>> {
        let launch = env.launch;
        let name = &launch.program.functions[function].name;
        let first = mask.trailing_zeros() as usize;
        match (name.as_str(), call.arguments.len()) {
            ("vprintf", 2) => {
                for lane in lanes(mask) {
                    let format = self.argument(caller, call.arguments[0], lane);
                    let list = self.argument(caller, call.arguments[1], lane);
                    let text = self.format(env, format, list, lane);
                    if let Ok(mut output) = launch.output.lock() {
                        output.push_str(&text.0);
                    }
                    if let Some(&slot) = call.returns.first() {
                        self.give(caller, slot, lane, text.1.into());
                    }
                }
                Ok(())
            }
            ("malloc", 1) => {
                for lane in lanes(mask) {
                    let bytes = self.argument(caller, call.arguments[0], lane);
                    let address = launch.heap.map_or(0, |heap| heap.allocate(bytes));
                    if let Some(&slot) = call.returns.first() {
                        self.give(caller, slot, lane, address);
                    }
                }
                Ok(())
            }
            ("free", 1) => {
                for lane in lanes(mask) {
                    let address = self.argument(caller, call.arguments[0], lane);
                    if address != 0 && !launch.heap.is_some_and(|heap| heap.free(address)) {
                        return Err(env.fault(FaultKind::BadFree { address }, place, lane));
                    }
                }
                Ok(())
            }
            ("__assertfail", 5) => {
                let text = |warp: &Self, i: usize| {
                    let address = warp.argument(caller, call.arguments[i], first);
                    warp.text(env, address, first)
                };
                let line = self.argument(caller, call.arguments[2], first) as u32;
                let message = format!("{}:{line}: {}: {}", text(self, 1), text(self, 3), text(self, 0));
                Err(env.fault(FaultKind::Assertion(message), place, first))
            }
            _ => Err(env.fault(FaultKind::Unresolved { name: name.clone() }, place, first)),
        }
    }

    fn argument(&self, caller: &Activation, slot: Slot, lane: usize) -> u64 {
        match slot {
            Slot::Register { row, words } => read_lane(&caller.file, row, words, lane),
            Slot::Frame { offset, bytes } => {
                let at = (lane as u64 * self.local.stride + caller.frame + offset) as usize;
                let length = bytes.min(8) as usize;
                let mut value = [0; 8];
                value[..length].copy_from_slice(&self.local.bytes()[at..at + length]);
                u64::from_le_bytes(value)
            }
        }
    }

    fn give(&mut self, caller: &mut Activation, slot: Slot, lane: usize, value: u64) {
        match slot {
            Slot::Register { row, words } => write_lane(&mut caller.file, row, words, lane, value),
            Slot::Frame { offset, bytes } => {
                let at = (lane as u64 * self.local.stride + caller.frame + offset) as usize;
                let length = bytes.min(8) as usize;
                self.local.write(at, &value.to_le_bytes()[..length]);
            }
        }
    }

    /// One byte of a lane's memory; `None` outside.
    pub(super) fn byte(&self, env: &Env<'_>, address: u64, lane: usize) -> Option<u8> {
        let (space, offset) = window(address);
        let at = usize::try_from(offset).ok()?;
        match space {
            Space::Shared => env.shared_bytes()[..env.launch.shared_bytes as usize].get(at).copied(),
            Space::Local if offset < self.local.stride => {
                self.local.bytes().get(lane * self.local.stride as usize + at).copied()
            }
            Space::Local => None,
            Space::Param => env.launch.parameters.get(at).copied(),
            _ => {
                let (index, at) = env.launch.memory.locate(address, 1, &mut 0)?;
                let mut byte = [0];
                env.launch.memory.live[index].read(at, &mut byte);
                Some(byte[0])
            }
        }
    }

    /// A text that ends with a zero.
    pub(super) fn text(&self, env: &Env<'_>, address: u64, lane: usize) -> String {
        let bytes: Vec<u8> =
            (0..TEXT).map_while(|i| self.byte(env, address.wrapping_add(i), lane).filter(|&byte| byte != 0)).collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}
