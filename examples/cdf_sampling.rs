//! Draws items in proportion to their weights, exactly and repeatably.
//!
//! `cargo run --release --example cdf_sampling`
//!
//! A `Cdf` holds the cumulative sums of weights as integers: nothing is lost however many weights there are, an item
//! of weight zero is never drawn, and a draw is a function of (seed, stream, index) on any machine. The program builds
//! one from eight weights, looks up a few thresholds, draws a million items and compares how often each came with how
//! often it should have. Then it does what breaks sums of floats: 2^24 + 10 equal weights, of which the last must be
//! as likely as the first.

use arith::random::Stream;
use per_core::{Cdf, Error};
use std::time::Instant;

fn main() -> Result<(), Error> {
    let weights = [10.0, 0.0, 5.0, 2.0, 0.5, 0.0, 1.5, 1.0];
    let mut cdf = Cdf::with_capacity(weights.len());
    cdf.build(&weights)?;
    println!("weights {weights:?}: total {} in units of 2^-{}", cdf.total(), cdf.scale().exponent());

    let unit = cdf.total() / 20;
    for threshold in [0, 10 * unit - 1, 10 * unit, cdf.total() - 1] {
        println!("  threshold {threshold:>17} lies in item {}", cdf.find(threshold)?);
    }

    let (seed, stream) = (2024, 0);
    let mut items = vec![0; 1_000_000];
    cdf.sample(&Stream::new(seed, stream), 0, &mut items)?;
    let mut counts = [0_u32; 8];
    items.iter().for_each(|&item| counts[item as usize] += 1);
    println!("\nitem  weight  probability  drawn of {}  off by (standard deviations)", items.len());
    for (i, (&weight, &count)) in weights.iter().zip(&counts).enumerate() {
        let p = f64::from(cdf.probability(i)?);
        let mean = p * items.len() as f64;
        let deviation = (mean * (1.0 - p)).sqrt();
        let off = if deviation > 0.0 { (f64::from(count) - mean) / deviation } else { 0.0 };
        println!("{i:4}  {weight:6.1}  {p:11.6}  {count:16}  {off:28.2}");
    }

    // A bad weight is named, and the sums stay as they were.
    if let Err(error) = cdf.build(&[1.0, f32::NAN]) {
        println!("\nrefused: {error}; total still {}", cdf.total());
    }

    let many = vec![0.1_f32; (1 << 24) + 10];
    let start = Instant::now();
    cdf.build_par(&many)?;
    let build = start.elapsed();
    let last = cdf.total() - 1;
    println!("\n2^24 + 10 equal weights, built in {build:.1?}: the last threshold lies in item {}", cdf.find(last)?);
    let mut sum = 0.0_f32;
    many.iter().for_each(|w| sum += w);
    println!("(their f32 sum is {sum}, not {})", f64::from(0.1_f32) * many.len() as f64);
    Ok(())
}
