//! Filling slices with consecutive draws.

use super::Stream;
use super::shape::{uniform, uniform_positive};
use super::stream::{double_words, normals};
use crate::fixed::bounded;
use crate::simd::{Isa, Kernel};

/// Makes the `PER` elements of a block. A trait and not a closure: its methods can be `#[inline(always)]`, without
/// which they may stay outside the copy that is compiled for the instruction set.
trait Shape<T, const PER: usize>: Copy {
    fn shape(self, block: [u32; 4]) -> [T; PER];
}

/// Element `first + i` goes to `out[i]`.
///
/// Past element 2^64 - 1 the blocks go on counting, with draws that no single-element call can name.
#[inline(always)]
fn fill<T: Copy, const PER: usize>(stream: Stream, first: u64, out: &mut [T], shape: impl Shape<T, PER>) {
    let per = PER as u64;
    // The rest of a block that begins before `first`.
    let skip = (first % per) as usize;
    let head = if skip == 0 { 0 } else { PER - skip };
    let (head, rest) = out.split_at_mut(if head < out.len() { head } else { out.len() });
    let mut block = first / per;
    if !head.is_empty() {
        head.copy_from_slice(&shape.shape(stream.block(block))[skip..skip + head.len()]);
        block = block.wrapping_add(1);
    }
    let (blocks, tail) = rest.as_chunks_mut::<PER>();
    for (i, out) in blocks.iter_mut().enumerate() {
        *out = shape.shape(stream.block(block.wrapping_add(i as u64)));
    }
    if !tail.is_empty() {
        let len = tail.len();
        tail.copy_from_slice(&shape.shape(stream.block(block.wrapping_add(blocks.len() as u64)))[..len]);
    }
}

macro_rules! fills {
    ($($name:ident, $with:ident, $kind:ty, $per:literal $(, $extra:ident)?; $text:literal, $shape:ident, |$block:ident| $body:expr;)*) => {
        $(
            #[derive(Clone, Copy)]
            struct $shape {
                $($extra: u64,)?
            }
            impl Shape<$kind, $per> for $shape {
                #[inline(always)]
                fn shape(self, $block: [u32; 4]) -> [$kind; $per] {
                    $(let $extra = self.$extra;)?
                    $body
                }
            }
        )*

        impl Stream {$(
            #[doc = concat!("`out[i] = ", $text, "`.")]
            #[inline]
            pub fn $name(&self, first: u64, $($extra: u64,)? out: &mut [$kind]) {
                self.$with(Isa::detect(), first, $($extra,)? out);
            }

            #[doc = concat!("[`Self::", stringify!($name), "`] with a given instruction set.")]
            #[inline]
            pub fn $with(&self, isa: Isa, first: u64, $($extra: u64,)? out: &mut [$kind]) {
                isa.run(Work::<$kind, $shape, $per> { stream: *self, first, out, shape: $shape { $($extra)? } });
            }
        )*}
    };
}

struct Work<'a, T, S, const PER: usize> {
    stream: Stream,
    first: u64,
    out: &'a mut [T],
    shape: S,
}

impl<T: Copy, S: Shape<T, PER>, const PER: usize> Kernel for Work<'_, T, S, PER> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        fill(self.stream, self.first, self.out, self.shape);
    }
}

fills! {
    fill_words, fill_words_with, u32, 4; "word(first + i)", Words, |block| block;
    fill_double_words, fill_double_words_with, u64, 2; "double_word(first + i)", DoubleWords, |block| double_words(block);
    fill_uniform, fill_uniform_with, f32, 4; "uniform(first + i)", Uniform,
        |block| [uniform(block[0]), uniform(block[1]), uniform(block[2]), uniform(block[3])];
    fill_uniform_positive, fill_uniform_positive_with, f32, 4; "uniform_positive(first + i)", UniformPositive,
        |block| [
            uniform_positive(block[0]),
            uniform_positive(block[1]),
            uniform_positive(block[2]),
            uniform_positive(block[3]),
        ];
    fill_normal, fill_normal_with, f32, 4; "normal(first + i)", Normal, |block| normals(block);
    fill_bounded, fill_bounded_with, u64, 2, total; "bounded(first + i, total)", Bounded, |block| {
        let [a, b] = double_words(block);
        [bounded(a, total), bounded(b, total)]
    };
}
