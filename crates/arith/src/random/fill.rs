//! Filling slices with consecutive draws.

use super::Stream;
use super::shape::{uniform, uniform_positive};
use super::stream::{double_words, normals};
use crate::fixed::bounded;
#[cfg(feature = "std")]
use crate::simd::{Isa, Kernel};

/// Element `first + i` goes to `out[i]`; `shape` makes the `PER` elements of a block.
///
/// Past element 2^64 - 1 the blocks go on counting, with draws that no single-element call can name.
#[inline(always)]
fn fill<T: Copy, const PER: usize>(stream: Stream, first: u64, out: &mut [T], shape: impl Fn([u32; 4]) -> [T; PER]) {
    let per = PER as u64;
    // The rest of a block that begins before `first`.
    let skip = (first % per) as usize;
    let head = if skip == 0 { 0 } else { PER - skip };
    let (head, rest) = out.split_at_mut(if head < out.len() { head } else { out.len() });
    let mut block = first / per;
    if !head.is_empty() {
        head.copy_from_slice(&shape(stream.block(block))[skip..skip + head.len()]);
        block = block.wrapping_add(1);
    }
    let (blocks, tail) = rest.as_chunks_mut::<PER>();
    for (i, out) in blocks.iter_mut().enumerate() {
        *out = shape(stream.block(block.wrapping_add(i as u64)));
    }
    if !tail.is_empty() {
        let len = tail.len();
        tail.copy_from_slice(&shape(stream.block(block.wrapping_add(blocks.len() as u64)))[..len]);
    }
}

macro_rules! fills {
    ($($name:ident, $with:ident, $one:ident, $kind:ty $(, $extra:ident)?; $text:literal, $shape:expr;)*) => {
        impl Stream {$(
            #[doc = concat!("`out[i] = ", $text, "`.")]
            #[inline]
            pub fn $name(&self, first: u64, $($extra: u64,)? out: &mut [$kind]) {
                #[cfg(feature = "std")]
                self.$with(Isa::detect(), first, $($extra,)? out);
                #[cfg(not(feature = "std"))]
                fill(*self, first, out, $shape);
            }

            #[doc = concat!("[`Self::", stringify!($name), "`] with a given instruction set.")]
            #[cfg(feature = "std")]
            #[inline]
            pub fn $with(&self, isa: Isa, first: u64, $($extra: u64,)? out: &mut [$kind]) {
                struct Work<'a> {
                    stream: Stream,
                    first: u64,
                    $($extra: u64,)?
                    out: &'a mut [$kind],
                }
                impl Kernel for Work<'_> {
                    type Output = ();
                    #[inline(always)]
                    fn run(self) {
                        let Self { stream, first, $($extra,)? out } = self;
                        fill(stream, first, out, $shape);
                    }
                }
                isa.run(Work { stream: *self, first, $($extra,)? out });
            }
        )*}
    };
}

fills! {
    fill_words, fill_words_with, word, u32; "word(first + i)", |block| block;
    fill_double_words, fill_double_words_with, double_word, u64; "double_word(first + i)", double_words;
    fill_uniform, fill_uniform_with, uniform, f32; "uniform(first + i)", |block| block.map(uniform);
    fill_uniform_positive, fill_uniform_positive_with, uniform_positive, f32; "uniform_positive(first + i)",
        |block| block.map(uniform_positive);
    fill_normal, fill_normal_with, normal, f32; "normal(first + i)", normals;
    fill_bounded, fill_bounded_with, bounded, u64, total; "bounded(first + i, total)",
        |block| double_words(block).map(|word| bounded(word, total));
}
