//! The contract in plain loops, level by level of the trees; shares no code with the crate.

/// Joins neighbours until one is left.
fn tree(mut level: Vec<f32>) -> f32 {
    while level.len() > 1 {
        level = level.chunks(2).map(|pair| if let [x, y] = pair { x + y } else { pair[0] }).collect();
    }
    level.first().copied().unwrap_or(0.0)
}

/// `a` (m, k) times `b` (k, n).
pub(crate) fn product(a: &[f32], b: &[f32], m: usize, n: usize, k: usize) -> Vec<f32> {
    let mut c = Vec::with_capacity(m * n);
    for i in 0..m {
        for j in 0..n {
            let steps: Vec<usize> = (0..k).collect();
            let chunks = steps.chunks(1024).map(|chunk| {
                let mut acc = 0.0f32;
                for &t in chunk {
                    acc = a[i * k + t].mul_add(b[t * n + j], acc);
                }
                acc
            });
            c.push(tree(chunks.collect()));
        }
    }
    c
}

/// The sum of `values` in the contract's order.
pub(crate) fn sum(values: &[f32]) -> f32 {
    let chunks = values.chunks(1024).map(|chunk| {
        let mut lanes = vec![0.0f32; 32];
        for (i, x) in chunk.iter().enumerate() {
            lanes[i % 32] += x;
        }
        tree(lanes)
    });
    tree(chunks.collect())
}
