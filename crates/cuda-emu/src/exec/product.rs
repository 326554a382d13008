//! Products of matrices that lie in registers (`mma.sync`, `wmma.mma`), with fragments of `mma.sync` laid out as the PTX
//! ISA's figures have them.

use crate::lanes::{LANES, NARROW, WIDE, read_lane, write_lane};
use crate::program::{Element, Fragment, Layout, Multiply};
use crate::soft::{self, Rounding};

/// A number of a matrix: all that elements can be is exact in one of the two.
trait Number: Copy + Default {
    fn decode(element: Element, bits: u64) -> Self;
    fn encode(self, element: Element) -> u64;
    /// `self * b + c`; `saturates` stops integers at the ends of 32 bits.
    fn multiply_add(self, b: Self, c: Self, saturates: bool) -> Self;
}

impl Number for f64 {
    fn decode(element: Element, bits: u64) -> Self {
        let format = match element {
            Element::F16 => soft::F16,
            Element::Bf16 => soft::BF16,
            Element::F64 => return Self::from_bits(bits),
            Element::Tf32 => return f32::from_bits(bits as u32 & 0xffff_e000).into(),
            _ => return f32::from_bits(bits as u32).into(),
        };
        Self::from_bits(soft::convert(format, soft::F64, Rounding::Nearest, bits))
    }

    fn encode(self, element: Element) -> u64 {
        let format = match element {
            Element::F64 => return self.to_bits(),
            Element::F16 => soft::F16,
            _ => soft::F32,
        };
        soft::convert(soft::F64, format, Rounding::Nearest, self.to_bits())
    }

    fn multiply_add(self, b: Self, c: Self, _: bool) -> Self {
        self.mul_add(b, c)
    }
}

impl Number for i64 {
    fn decode(element: Element, bits: u64) -> Self {
        match element {
            Element::S8 => (bits as i8).into(),
            Element::U8 => (bits as u8).into(),
            _ => (bits as i32).into(),
        }
    }

    fn encode(self, _: Element) -> u64 {
        (self as u32).into()
    }

    fn multiply_add(self, b: Self, c: Self, saturates: bool) -> Self {
        let sum = c + self * b;
        if saturates { sum.clamp(i32::MIN.into(), i32::MAX.into()) } else { sum }
    }
}

impl Fragment {
    /// Bits of an element in a register.
    fn bits(&self) -> u32 {
        8 * self.element.bytes() as u32
    }

    pub(super) fn words(&self) -> u32 {
        if self.element == Element::F64 { WIDE } else { NARROW }
    }

    /// Elements that a lane holds.
    pub(super) fn per_lane(&self) -> usize {
        self.registers.len() * self.element.per_register()
    }

    /// Row and column of a lane's element, counted through its registers.
    pub(super) fn place(&self, lane: usize, index: usize) -> (usize, usize) {
        let per = self.element.per_register();
        let (register, part) = (index / per, index % per);
        let (group, member) = (lane / 4, lane % 4);
        match self.layout {
            Layout::First => {
                let blocks = self.rows / 8;
                (group + register % blocks * 8, (register / blocks * 4 + member) * per + part)
            }
            Layout::Second => ((register * 4 + member) * per + part, group),
            Layout::Accumulator => (group + index / 2 * 8, member * 2 + index % 2),
            Layout::Flat => {
                let at = (lane * self.per_lane() + index) % (self.rows * self.columns);
                (at / self.columns, at % self.columns)
            }
        }
    }

    /// Bits of a lane's element.
    pub(super) fn get(&self, file: &[u64], lane: usize, index: usize) -> u64 {
        let per = self.element.per_register();
        let word = read_lane(file, self.registers[index / per], self.words(), lane);
        let part = word >> (index % per * self.bits() as usize);
        if self.bits() == 64 { part } else { part & ((1 << self.bits()) - 1) }
    }

    pub(super) fn set(&self, file: &mut [u64], lane: usize, index: usize, bits: u64) {
        let per = self.element.per_register();
        let register = self.registers[index / per];
        if per == 1 {
            write_lane(file, register, self.words(), lane, bits);
            return;
        }
        let shift = index % per * self.bits() as usize;
        let mask = ((1_u64 << self.bits()) - 1) << shift;
        let old = read_lane(file, register, NARROW, lane);
        write_lane(file, register, NARROW, lane, old & !mask | bits << shift & mask);
    }

    /// The whole matrix, row after row.
    fn matrix<N: Number>(&self, file: &[u64]) -> Vec<N> {
        let mut matrix = vec![N::default(); self.rows * self.columns];
        for lane in 0..LANES {
            for index in 0..self.per_lane() {
                let (row, column) = self.place(lane, index);
                matrix[row * self.columns + column] = N::decode(self.element, self.get(file, lane, index));
            }
        }
        matrix
    }
}

/// `d = a b + c`. The ISA leaves order and precision of the sum open; here it is a chain of fused multiply-adds in `f64`
/// (or exact integers), k ascending from `c` on, and rounded to `d` at its end.
pub(super) fn multiply(file: &mut [u64], multiply: &Multiply) {
    if multiply.c.element == Element::S32 {
        product::<i64>(file, multiply);
    } else {
        product::<f64>(file, multiply);
    }
}

fn product<N: Number>(file: &mut [u64], multiply: &Multiply) {
    let Multiply { d, a, b, c, saturates } = multiply;
    let (left, right, mut sums) = (a.matrix::<N>(file), b.matrix::<N>(file), c.matrix::<N>(file));
    for (row, sums) in sums.chunks_exact_mut(d.columns).enumerate() {
        for (column, sum) in sums.iter_mut().enumerate() {
            for k in 0..a.columns {
                *sum = left[row * a.columns + k].multiply_add(right[k * b.columns + column], *sum, *saturates);
            }
        }
    }
    for lane in 0..LANES {
        for index in 0..d.per_lane() {
            let (row, column) = d.place(lane, index);
            d.set(file, lane, index, sums[row * d.columns + column].encode(d.element));
        }
    }
}
