//! Per-row terms of the loss, and their means.

/// Buffers for the terms of up to `capacity` rows. Row blocks fill them in any order and on any thread; the sums are
/// taken afterwards, in the contract's order.
#[derive(Clone, Debug)]
pub struct Terms {
    policy: Vec<f32>,
    value: Vec<f32>,
    entropy: Vec<f32>,
    kl: Vec<f32>,
    clipped: Vec<f32>,
    ratio: Vec<f32>,
}

/// The terms of consecutive rows.
#[derive(Debug)]
pub struct TermRows<'a> {
    /// Weighted clipped surrogate loss.
    pub(super) policy: &'a mut [f32],
    /// Weighted value loss.
    pub(super) value: &'a mut [f32],
    pub(super) entropy: &'a mut [f32],
    pub(super) kl: &'a mut [f32],
    /// 1 where the ratio is outside the clip range.
    pub(super) clipped: &'a mut [f32],
    pub(super) ratio: &'a mut [f32],
}

/// Means over a minibatch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Statistics {
    /// Mean of `-w min(r A, clip(r) A)`.
    pub policy_loss: f32,
    /// Mean of `w / 2 max((v - R)^2, (v_clipped - R)^2)`, before the coefficient.
    pub value_loss: f32,
    /// Mean entropy, in nats (not weighted).
    pub entropy: f32,
    /// Mean of `(r - 1) - ln r`, the k3 estimate of KL(old || new), in nats (not weighted).
    pub approx_kl: f32,
    /// Share of the rows with a ratio outside `[1 - clip, 1 + clip]`.
    pub clip_fraction: f32,
    /// Smallest ratio.
    pub min_ratio: f32,
    /// Largest ratio.
    pub max_ratio: f32,
}

impl Terms {
    /// Buffers for up to `capacity` rows.
    ///
    /// # Panics
    /// Where memory for them cannot be had, as `Vec` does.
    pub fn new(capacity: usize) -> Self {
        let zeros = || vec![0.0; capacity];
        Self { policy: zeros(), value: zeros(), entropy: zeros(), kl: zeros(), clipped: zeros(), ratio: zeros() }
    }

    /// Number of rows that fit.
    pub fn capacity(&self) -> usize {
        self.policy.len()
    }

    /// The first `rows` rows (all there are, if fewer), to be split among blocks.
    pub fn rows(&mut self, rows: usize) -> TermRows<'_> {
        let n = rows.min(self.capacity());
        TermRows {
            policy: &mut self.policy[..n],
            value: &mut self.value[..n],
            entropy: &mut self.entropy[..n],
            kl: &mut self.kl[..n],
            clipped: &mut self.clipped[..n],
            ratio: &mut self.ratio[..n],
        }
    }

    /// Means over the first `rows` rows (all there are, if fewer): each the contract-order sum divided by the number
    /// of rows. All zeros without rows.
    pub fn reduce(&self, rows: usize) -> Statistics {
        let n = rows.min(self.capacity());
        if n == 0 {
            return Statistics::default();
        }
        let mean = |x: &[f32]| arith::sum::sum(&x[..n]) / n as f32;
        // Ratios are positive, and so in the order of their bits: integers, so that LLVM may regroup them.
        let (mut smallest, mut largest) = (u32::MAX, 0);
        for r in &self.ratio[..n] {
            smallest = smallest.min(r.to_bits());
            largest = largest.max(r.to_bits());
        }
        Statistics {
            policy_loss: mean(&self.policy),
            value_loss: mean(&self.value),
            entropy: mean(&self.entropy),
            approx_kl: mean(&self.kl),
            clip_fraction: mean(&self.clipped),
            min_ratio: f32::from_bits(smallest),
            max_ratio: f32::from_bits(largest),
        }
    }
}

impl<'a> TermRows<'a> {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.policy.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.policy.is_empty()
    }

    /// The same rows, borrowed anew.
    pub fn reborrow(&mut self) -> TermRows<'_> {
        TermRows {
            policy: self.policy,
            value: self.value,
            entropy: self.entropy,
            kl: self.kl,
            clipped: self.clipped,
            ratio: self.ratio,
        }
    }

    /// The first `mid` rows (all, if there are fewer) and the rest.
    pub fn split_at(self, mid: usize) -> (TermRows<'a>, TermRows<'a>) {
        let mid = mid.min(self.len());
        let policy = self.policy.split_at_mut(mid);
        let value = self.value.split_at_mut(mid);
        let entropy = self.entropy.split_at_mut(mid);
        let kl = self.kl.split_at_mut(mid);
        let clipped = self.clipped.split_at_mut(mid);
        let ratio = self.ratio.split_at_mut(mid);
        (
            TermRows {
                policy: policy.0,
                value: value.0,
                entropy: entropy.0,
                kl: kl.0,
                clipped: clipped.0,
                ratio: ratio.0,
            },
            TermRows {
                policy: policy.1,
                value: value.1,
                entropy: entropy.1,
                kl: kl.1,
                clipped: clipped.1,
                ratio: ratio.1,
            },
        )
    }
}
