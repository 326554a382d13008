//! Once there is room, nothing allocates. One test only: the counter belongs to the process.

use arith::random::Stream;
use per_core::Cdf;
use test_support::{Counting, allocations_of};

#[global_allocator]
static COUNTING: Counting = Counting;

#[test]
fn rebuilding_and_drawing_allocate_nothing() {
    let weights: Vec<f32> = (0..300_000).map(|i| (i % 13) as f32).collect();
    let thresholds: Vec<u64> = (0..5000).collect();
    let stream = Stream::new(1, 1);
    let mut items = vec![0; 5000];
    let mut fractions = vec![0.0; weights.len()];

    let mut cdf = Cdf::new();
    assert!(allocations_of(|| cdf.build(&weights).unwrap()) > 0, "the counter works");
    let mut work = |cdf: &mut Cdf| {
        for n in [300_000, 1, 256, 70_000, 300_000] {
            cdf.build(&weights[..n]).unwrap();
            cdf.build_from(weights[1..n.max(2)].iter().copied()).unwrap();
            assert!(cdf.build(&[f32::NAN]).is_err());
        }
        cdf.build(&weights).unwrap();
        cdf.search(&thresholds, &mut items).unwrap();
        cdf.search_left(&thresholds[1..], &mut items[1..]).unwrap();
        cdf.sample(&stream, 0, &mut items).unwrap();
        cdf.sample_stratified(&stream, 0, &mut items).unwrap();
        cdf.sample_systematic(&stream, 0, &mut items).unwrap();
        cdf.to_f32(&mut fractions).unwrap();
    };
    // The first call of `build_from` makes room for its copy.
    work(&mut cdf);
    assert_eq!(allocations_of(|| work(&mut cdf)), 0);

    let mut ready = Cdf::with_capacity(weights.len());
    assert_eq!(allocations_of(|| ready.build(&weights).unwrap()), 0, "with_capacity makes room for the first build");

    // On the threads of a pool; what is counted is what they do, not how the work gets into the pool.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let mut parallel = |cdf: &mut Cdf| {
        cdf.build_par(&weights).unwrap();
        cdf.sample_par(&stream, 0, &mut items).unwrap();
        cdf.search_par(&thresholds, &mut items).unwrap();
    };
    let count = pool.install(|| {
        for _ in 0..20 {
            parallel(&mut cdf);
        }
        allocations_of(|| parallel(&mut cdf))
    });
    assert_eq!(count, 0);
}
