//! The tree over chunk sums.

/// Something that two neighbours of the tree combine into.
pub trait Join: Copy {
    /// `self` is the left (earlier) neighbour.
    #[must_use]
    fn join(self, right: Self) -> Self;
}

impl Join for f32 {
    #[inline(always)]
    fn join(self, right: Self) -> Self {
        self + right
    }
}

impl<const N: usize> Join for [f32; N] {
    #[inline(always)]
    fn join(mut self, right: Self) -> Self {
        for (l, r) in self.iter_mut().zip(right) {
            *l += r;
        }
        self
    }
}

/// Joins chunk sums by the tree of adjacent pairs as they arrive, without storing them.
///
/// A binary counter: after n sums it holds one complete subtree for each set bit of n, the widest first.
/// [`finish`](Self::finish) joins these from the right, which is where the odd ones out move up unchanged. The stack
/// has a fixed size; nothing is allocated.
///
/// ```
/// let mut tree = arith::sum::ChunkTree::new();
/// for sum in [1.0_f32, 2.0, 3.0] {
///     tree.push(sum);
/// }
/// assert_eq!(tree.finish(), Some((1.0 + 2.0) + 3.0));
/// ```
#[derive(Clone, Debug)]
pub struct ChunkTree<T = f32> {
    /// Complete subtrees, the widest first; only the first `depth` are there.
    stack: [Option<T>; DEPTH],
    depth: usize,
    count: u64,
}

/// One subtree for each bit of the count.
const DEPTH: usize = 64;

impl<T: Join> ChunkTree<T> {
    /// No sums yet.
    #[inline]
    #[must_use]
    pub const fn new() -> Self {
        Self { stack: [None; DEPTH], depth: 0, count: 0 }
    }

    /// The number of sums so far.
    #[inline]
    pub const fn len(&self) -> u64 {
        self.count
    }

    /// Whether there are no sums yet.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Forgets all sums.
    #[inline]
    pub const fn clear(&mut self) {
        self.depth = 0;
        self.count = 0;
    }

    /// The next chunk's sum.
    #[inline]
    pub fn push(&mut self, sum: T) {
        let mut sum = sum;
        // As many carries as the count has trailing ones.
        for _ in 0..self.count.trailing_ones() {
            self.depth -= 1;
            if let Some(left) = self.stack[self.depth] {
                sum = left.join(sum);
            }
        }
        self.stack[self.depth] = Some(sum);
        self.depth += 1;
        self.count += 1;
    }

    /// The sum of everything so far, `None` if there is nothing. The tree can go on growing.
    #[inline]
    pub fn finish(&self) -> Option<T> {
        let mut rest = self.stack[..self.depth].iter().rev().flatten().copied();
        let last = rest.next()?;
        Some(rest.fold(last, |right, left| left.join(right)))
    }
}

impl<T: Join> Default for ChunkTree<T> {
    fn default() -> Self {
        Self::new()
    }
}

/// Joins `sums` by the tree of adjacent pairs, level by level in place (they are overwritten); `None` if empty.
///
/// The same value as a [`ChunkTree`] that was given them in order.
#[inline]
pub fn tree_sum<T: Join>(sums: &mut [T]) -> Option<T> {
    let mut len = sums.len();
    while len > 1 {
        let pairs = len / 2;
        for i in 0..pairs {
            sums[i] = sums[2 * i].join(sums[2 * i + 1]);
        }
        if len % 2 == 1 {
            sums[pairs] = sums[len - 1];
        }
        len = len.div_ceil(2);
    }
    sums.first().copied()
}
