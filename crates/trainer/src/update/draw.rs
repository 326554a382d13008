//! Which segments a minibatch gets, and with which importance weights.

use arith::random::Stream;
use per_core::Cdf;

use crate::error::Error;
use crate::streams::{self, Kind};

/// Where the largest priority is below this, 2^-64, others might have vanished.
const SMALL: f32 = f32::from_bits((127 - 64) << 23);

/// Draws the segments of every epoch of an update.
pub(crate) struct Drawer {
    /// The epoch's segments in order of use, (S).
    pub(crate) order: Vec<u32>,
    /// Importance weight of each segment of the rollout, (S).
    pub(crate) weights: Vec<f32>,
    priorities: Vec<f32>,
    cdf: Cdf,
}

impl Drawer {
    pub(crate) fn new(segments: usize) -> Self {
        Self {
            order: (0..).take(segments).collect(),
            weights: vec![1.0; segments],
            priorities: vec![0.0; segments],
            cdf: Cdf::with_capacity(segments),
        }
    }

    /// Priorities `(sum |advantage|)^alpha` and importance weights of a new rollout; `magnitudes` (S) holds the sums.
    ///
    /// Where every priority is zero, or alpha is, the draw is uniform and all weights are 1. Where the largest power leaves
    /// [2^-64, infinity), the sums are first divided by the largest of them: proportions stay.
    pub(crate) fn prioritize(&mut self, magnitudes: &[f32], alpha: f32, beta: f32) -> Result<(), Error> {
        self.weights.fill(1.0);
        if alpha == 0.0 {
            return Ok(());
        }
        let mut raise = |largest: f32| {
            let mut top = 0.0;
            for (p, &m) in self.priorities.iter_mut().zip(magnitudes) {
                *p = if m > 0.0 { arith::powf(m / largest, alpha) } else { 0.0 };
                top = if *p > top { *p } else { top };
            }
            top
        };
        let top = raise(1.0);
        let largest = magnitudes.iter().copied().fold(0.0, |a, b| if b > a { b } else { a });
        if largest > 0.0 && !(SMALL..f32::INFINITY).contains(&top) {
            raise(largest);
        }
        if self.priorities.iter().all(|&p| p == 0.0) {
            self.priorities.fill(1.0);
        }
        self.cdf.build(&self.priorities)?;
        // w_i = (1 / (S p_i))^beta over its largest: (p_min / p_i)^beta, p_min the smallest that can be drawn.
        let smallest =
            self.priorities.iter().copied().filter(|&p| p > 0.0).fold(f32::INFINITY, |a, b| if b < a { b } else { a });
        for (w, &p) in self.weights.iter_mut().zip(&self.priorities) {
            if p > 0.0 && beta != 0.0 {
                *w = arith::powf(smallest / p, beta);
            }
        }
        Ok(())
    }

    /// The segments of epoch `epoch` of update `update`: a permutation of all of them, or draws by priority.
    pub(crate) fn draw(&mut self, seed: u64, update: u64, epoch: u64, prioritized: bool) -> Result<(), Error> {
        let stream = Stream::new(seed, streams::address(Kind::Segment, update));
        let first = epoch << 32;
        if prioritized {
            self.cdf.sample(&stream, first, &mut self.order)?;
            return Ok(());
        }
        // Fisher and Yates from the identity, so that an epoch's order does not depend on the one before.
        for (i, slot) in (0..).zip(self.order.iter_mut()) {
            *slot = i;
        }
        for i in (1..self.order.len()).rev() {
            let words = stream.block(first + i as u64);
            let word = u64::from(words[0]) | u64::from(words[1]) << 32;
            let j = ((u128::from(word) * (i as u128 + 1)) >> 64) as usize;
            self.order.swap(i, j);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_alpha_every_segment_comes_once_per_epoch() {
        let mut drawer = Drawer::new(37);
        let mut seen = Vec::new();
        for epoch in 0..3 {
            drawer.draw(5, 2, epoch, false).unwrap();
            let mut sorted = drawer.order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..37).collect::<Vec<_>>());
            seen.push(drawer.order.clone());
        }
        assert_ne!(seen[0], seen[1]);
        assert_ne!(seen[1], seen[2]);
    }

    #[test]
    fn every_permutation_is_equally_likely() {
        // 6 permutations of 3, 6,000 draws: chi-square with 5 degrees of freedom, 20.5 at alpha = 0.001.
        let mut counts = [0_u32; 6];
        let mut drawer = Drawer::new(3);
        for update in 0..6_000 {
            drawer.draw(11, update, 0, false).unwrap();
            let o = &drawer.order;
            counts[(o[0] * 2 + u32::from(o[1] > o[2])) as usize] += 1;
        }
        let chi: f64 = counts.iter().map(|&c| (f64::from(c) - 1000.0).powi(2) / 1000.0).sum();
        assert!(chi < 20.5, "{counts:?}");
    }

    #[test]
    fn priorities_shape_draws_and_weights() {
        let mut drawer = Drawer::new(4);
        drawer.prioritize(&[1.0, 4.0, 0.0, 9.0], 0.5, 1.0).unwrap();
        // Priorities 1, 2, 0, 3.
        assert_eq!(drawer.weights[0], 1.0);
        assert!((drawer.weights[1] - 0.5).abs() < 1e-6);
        assert!((drawer.weights[3] - 1.0 / 3.0).abs() < 1e-6);
        let mut counts = [0_u32; 4];
        for update in 0..3_000 {
            drawer.draw(1, update, 0, true).unwrap();
            for &s in &drawer.order {
                counts[s as usize] += 1;
            }
        }
        assert_eq!(counts[2], 0);
        // 12,000 draws: chi-square with 2 degrees of freedom, 13.8 at alpha = 0.001.
        let expected = [2_000.0, 4_000.0, 6_000.0];
        let chi: f64 = [0, 1, 3].iter().zip(expected).map(|(&i, e)| (f64::from(counts[i]) - e).powi(2) / e).sum();
        assert!(chi < 13.8, "{counts:?}");
    }

    #[test]
    fn powers_outside_of_the_range_keep_their_proportions() {
        for unit in [1e3, 1e-3] {
            let mut drawer = Drawer::new(3);
            drawer.prioritize(&[unit, unit, 2.0 * unit], 16.0, 1.0).unwrap();
            assert_eq!(drawer.cdf.probability(0).unwrap(), drawer.cdf.probability(1).unwrap());
            // 1 / (2 + 2^16)
            assert!((drawer.cdf.probability(0).unwrap() - 1.0 / 65_538.0).abs() < 1e-9);
            assert_eq!(drawer.weights[..2], [1.0; 2]);
        }
    }

    #[test]
    fn priorities_that_are_all_zero_draw_uniformly() {
        let mut drawer = Drawer::new(3);
        drawer.prioritize(&[0.0; 3], 0.6, 0.4).unwrap();
        drawer.draw(1, 0, 0, true).unwrap();
        assert_eq!(drawer.weights, [1.0; 3]);
    }
}
