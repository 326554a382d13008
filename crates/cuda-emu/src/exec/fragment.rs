//! `wmma.load` and `wmma.store`: an access to memory for each element that lanes hold.

use super::env::{Env, Mode, Place};
use super::request::Request;
use super::warp::{Activation, Warp};
use crate::fault::Fault;
use crate::lanes::{LANES, NARROW, read_lane, write_lane};
use crate::program::MoveFragment;

impl Warp {
    pub(super) fn move_fragment<M: Mode>(
        &mut self,
        env: &mut Env<'_>,
        activation: &mut Activation,
        moved: &MoveFragment,
        place: Place,
    ) -> Result<(), Box<Fault>> {
        let MoveFragment { store, fragment, by_columns, stride, access } = moved;
        let bytes = access.bytes();
        let whole = Request::new(&activation.file, &access.address, access.space, bytes, u32::MAX, place);
        let (through, words) = access.elements[0];
        for index in 0..fragment.per_lane() {
            let mut request = whole;
            for lane in 0..LANES {
                let (row, column) = fragment.place(lane, index);
                let (major, minor) = if *by_columns { (column, row) } else { (row, column) };
                let stride = read_lane(&activation.file, *stride, NARROW, lane);
                let offset = (major as u64 * stride + minor as u64) * bytes;
                request.at[lane] = request.at[lane].wrapping_add(offset);
            }
            if *store {
                for lane in 0..LANES {
                    let bits = fragment.get(&activation.file, lane, index);
                    write_lane(&mut activation.file, through, words, lane, bits);
                }
                self.store_request::<M>(env, activation, access, &request)?;
            } else {
                self.load_request::<M>(env, activation, access, &request)?;
                for lane in 0..LANES {
                    let bits = read_lane(&activation.file, through, words, lane);
                    fragment.set(&mut activation.file, lane, index, bits);
                }
            }
        }
        Ok(())
    }
}
