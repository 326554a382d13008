//! Local memory that a function takes while it runs: `alloca`, `stacksave`, `stackrestore`.

use super::env::{Env, Place};
use super::step::lanes;
use super::warp::{Activation, Warp};
use crate::fault::{Fault, FaultKind};
use crate::lanes::{WIDE, read_lane, write_lane};

impl Warp {
    /// Takes as much as the lane needs that needs most.
    pub(super) fn allocate(
        &mut self,
        env: &Env<'_>,
        activation: &mut Activation,
        (d, bytes, align): (u32, u32, u64),
        mask: u32,
        place: Place,
    ) -> Result<(), Box<Fault>> {
        let most = lanes(mask).map(|lane| read_lane(&activation.file, bytes, WIDE, lane)).max().unwrap_or(0);
        let base = activation.end.next_multiple_of(align);
        let end = base.saturating_add(most).saturating_add(15) & !15;
        if end > env.launch.stack_bytes {
            return Err(env.fault(FaultKind::StackOverflow, place, mask.trailing_zeros() as usize));
        }
        self.local.reserve(end);
        self.local.forget(activation.end, end);
        activation.end = end;
        for lane in lanes(mask) {
            write_lane(&mut activation.file, d, WIDE, lane, base);
        }
        Ok(())
    }

    /// Gives back what was taken since, if all lanes of the call do so together; else it goes when the call ends.
    pub(super) fn restore_stack(activation: &mut Activation, (a, words): (u32, u32), mask: u32, all: u32) {
        let saved = read_lane(&activation.file, a, words, mask.trailing_zeros() as usize);
        let together = lanes(mask).all(|lane| read_lane(&activation.file, a, words, lane) == saved);
        if mask == all && together && (activation.own_end..=activation.end).contains(&saved) {
            activation.end = saved;
        }
    }
}
