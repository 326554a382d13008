//! Once there is room, nothing allocates. One test only: the counter belongs to the process.

use arith::random::Stream;
use per_core::Cdf;
use per_core::resample::{self, Base, Batch, Random, Scheme, Scratch};
use test_support::{Counting, allocations_of};

#[global_allocator]
static COUNTING: Counting = Counting;

#[test]
fn resampling_allocates_nothing() {
    let weights: Vec<f32> = (0..4000).map(|i| (i % 13) as f32).collect();
    let mut cdf = Cdf::new();
    cdf.build(&weights).unwrap();
    let (mut out, mut counts) = (vec![0; 5000], vec![0; 4000]);
    let uniforms = vec![0.3; 5000];
    let stream = Stream::new(1, 1);
    let work = |scratch: &mut Scratch, batch: &mut Batch, out: &mut [u32], counts: &mut [u32]| {
        for scheme in [
            Scheme::Multinomial,
            Scheme::Stratified,
            Scheme::Systematic,
            Scheme::Residual(Base::Multinomial),
            Scheme::Residual(Base::Stratified),
            Scheme::Residual(Base::Systematic),
        ] {
            // Few draws and many.
            for draws in [1, 30, 5000] {
                let random = Random::Stream { stream, first_index: 5 };
                resample::ancestors(&cdf, scheme, random, scratch, &mut out[..draws]).unwrap();
                let random = Random::Uniforms(&uniforms[..scheme.words(draws)]);
                resample::offspring(&cdf, scheme, draws, random, scratch, counts).unwrap();
            }
            resample::ancestors_batch(&weights, 4, scheme, &stream, 0, batch, out).unwrap();
        }
    };
    let (mut scratch, mut batch) = (Scratch::new(), Batch::new());
    assert!(allocations_of(|| work(&mut scratch, &mut batch, &mut out, &mut counts)) > 0, "the counter works");
    assert_eq!(allocations_of(|| work(&mut scratch, &mut batch, &mut out, &mut counts)), 0);
    let (mut scratch, mut batch) = (Scratch::with_capacity(4000, 5000), Batch::with_capacity(1000, 1250));
    let count = allocations_of(|| work(&mut scratch, &mut batch, &mut out, &mut counts));
    assert_eq!(count, 0, "with_capacity makes room for the first call");
}
