//! Contract-order sums of mapped elements.

/// `sum f(i)` for i < n: chunks of 1024, 32 lanes within a chunk, adjacent pairs above.
#[inline(always)]
pub(crate) fn sum_map(n: usize, f: impl Fn(usize) -> f32) -> f32 {
    // Subtrees that wait for their right neighbour, the largest first; bit k of the chunk count says whether one of
    // 2^k chunks waits.
    let mut waiting = [0.0_f32; 64];
    let mut depth = 0;
    let mut chunks = 0_usize;
    for start in (0..n).step_by(1024) {
        let end = n.min(start + 1024);
        let mut lanes = [0.0_f32; 32];
        let whole = start + (end - start) / 32 * 32;
        for base in (start..whole).step_by(32) {
            for (j, lane) in lanes.iter_mut().enumerate() {
                *lane += f(base + j);
            }
        }
        for i in whole..end {
            lanes[i - whole] += f(i);
        }
        let mut width = 16;
        while width > 0 {
            for j in 0..width {
                lanes[j] = lanes[2 * j] + lanes[2 * j + 1];
            }
            width /= 2;
        }
        let mut sum = lanes[0];
        let mut bit = chunks;
        while bit & 1 == 1 {
            depth -= 1;
            sum = waiting[depth] + sum;
            bit >>= 1;
        }
        waiting[depth] = sum;
        depth += 1;
        chunks += 1;
    }
    if depth == 0 {
        return 0.0;
    }
    let mut sum = waiting[depth - 1];
    for k in (0..depth - 1).rev() {
        sum = waiting[k] + sum;
    }
    sum
}
