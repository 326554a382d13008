//! Products of `linalg` and of the `gemm` crate, the same shapes, threads and data in the same run.
//!
//! `cargo bench --bench linalg` runs criterion; `cargo bench --bench linalg -- --ratios` prints a table of the ratios
//! instead: the two take turns; by the median of all turns, and by each one's best (for machines with other work).

use criterion::{BenchmarkId, Criterion, Throughput};
use linalg::{MatMut, MatRef, PackedB, Par, Scratch};
use std::hint::black_box;
use std::time::Instant;

/// (m, n, k, transposed left operand).
const SHAPES: [(usize, usize, usize, bool); 6] = [
    (8192, 64, 64, false),
    (8192, 192, 64, false),
    (4096, 768, 256, false),
    (1024, 1024, 1024, false),
    (192, 64, 8192, true),
    (32, 64, 64, false),
];

/// Operands of one shape.
struct Case {
    m: usize,
    n: usize,
    k: usize,
    transposed: bool,
    a: Vec<f32>,
    b: Vec<f32>,
    c: Vec<f32>,
    packed: PackedB,
    scratch: Scratch,
}

impl Case {
    fn new((m, n, k, transposed): (usize, usize, usize, bool)) -> Self {
        let values = |len: usize, step: u32| -> Vec<f32> {
            let mut x = step;
            (0..len)
                .map(|_| {
                    x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    (x >> 8) as f32 / (1 << 24) as f32 - 0.5
                })
                .collect()
        };
        let (a, b, c) = (values(m * k, 1), values(k * n, 2), vec![0.0; m * n]);
        let mut packed = PackedB::new(k, n);
        packed.pack_nn(MatRef::new(&b, k, n).expect("shape")).expect("shape");
        Self { m, n, k, transposed, a, b, c, packed, scratch: Scratch::new() }
    }

    fn name(&self) -> String {
        format!("{}x{}x{}{}", self.m, self.n, self.k, if self.transposed { "_tn" } else { "" })
    }

    fn lockstep(&mut self, par: Par) {
        let b = MatRef::new(&self.b, self.k, self.n).expect("shape");
        let c = MatMut::new(&mut self.c, self.m, self.n).expect("shape");
        if self.transposed {
            let a = MatRef::new(&self.a, self.k, self.m).expect("shape");
            linalg::gemm_tn(a, b, c, par, &mut self.scratch).expect("shape");
        } else {
            let a = MatRef::new(&self.a, self.m, self.k).expect("shape");
            linalg::gemm_nn(a, b, c, par, &mut self.scratch).expect("shape");
        }
        black_box(&mut self.c);
    }

    fn packed(&mut self, par: Par) {
        let a = MatRef::new(&self.a, self.m, self.k).expect("shape");
        let c = MatMut::new(&mut self.c, self.m, self.n).expect("shape");
        linalg::gemm_packed(a, &self.packed, c, par).expect("shape");
        black_box(&mut self.c);
    }

    fn peer(&mut self, threads: usize) {
        let (m, n, k) = (self.m, self.n, self.k);
        let (row, column) = if self.transposed { (1, m as isize) } else { (k as isize, 1) };
        let parallelism = if threads == 1 { gemm::Parallelism::None } else { gemm::Parallelism::Rayon(threads) };
        // SAFETY: the strides describe the three vectors, which have m * k, k * n and m * n elements.
        unsafe {
            gemm::gemm(
                m,
                n,
                k,
                self.c.as_mut_ptr(),
                1,
                n as isize,
                false,
                self.a.as_ptr(),
                column,
                row,
                self.b.as_ptr(),
                1,
                n as isize,
                0.0f32,
                1.0f32,
                false,
                false,
                false,
                parallelism,
            );
        }
        black_box(&mut self.c);
    }
}

fn pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads")
}

fn par(threads: usize) -> Par {
    if threads == 1 { Par::Serial } else { Par::Rayon }
}

/// Seconds of one call, the mean of some.
fn time(calls: usize, mut f: impl FnMut()) -> f64 {
    let start = Instant::now();
    for _ in 0..calls {
        f();
    }
    start.elapsed().as_secs_f64() / calls as f64
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Prints our speed over the peer's.
fn ratios() {
    println!(
        "threads shape             lockstep GFLOP/s  gemm GFLOP/s  ratio (median)  lockstep best  gemm best  ratio (best)"
    );
    for threads in [1, 2] {
        pool(threads).install(|| {
            let (mut of_median, mut of_best) = (0.0, 0.0);
            for shape in SHAPES {
                let mut case = Case::new(shape);
                let flop = 2.0 * (case.m * case.n * case.k) as f64;
                // Short turns, and many: some of them then have the machine for themselves even if others work on it.
                let calls = ((2e7 / flop) as usize).max(1);
                let turns = ((4e10 / (flop * calls as f64)) as usize).clamp(41, 1001);
                let (mut ours, mut theirs) = (Vec::new(), Vec::new());
                for _ in 0..turns {
                    ours.push(time(calls, || case.lockstep(par(threads))));
                    theirs.push(time(calls, || case.peer(threads)));
                }
                let (x, y) = (median(&mut ours), median(&mut theirs));
                println!(
                    "{threads:7} {:17} {:16.1}  {:12.1}  {:14.3}  {:13.1}  {:9.1}  {:12.3}",
                    case.name(),
                    flop / x * 1e-9,
                    flop / y * 1e-9,
                    y / x,
                    flop / ours[0] * 1e-9,
                    flop / theirs[0] * 1e-9,
                    theirs[0] / ours[0]
                );
                of_median += (y / x).ln();
                of_best += (theirs[0] / ours[0]).ln();
            }
            let count = SHAPES.len() as f64;
            println!("{threads:7} geometric mean {:50.3}  {:38.3}", (of_median / count).exp(), (of_best / count).exp());
        });
    }
}

fn products(criterion: &mut Criterion) {
    for threads in [1, 2] {
        let pool = pool(threads);
        let mut group = criterion.benchmark_group(format!("gemm_{threads}"));
        for shape in SHAPES {
            let mut case = Case::new(shape);
            group.throughput(Throughput::Elements((2 * case.m * case.n * case.k) as u64));
            let name = case.name();
            group.bench_function(BenchmarkId::new("lockstep", &name), |bench| {
                pool.install(|| bench.iter(|| case.lockstep(par(threads))));
            });
            if !case.transposed {
                group.bench_function(BenchmarkId::new("lockstep_packed", &name), |bench| {
                    pool.install(|| bench.iter(|| case.packed(par(threads))));
                });
            }
            group.bench_function(BenchmarkId::new("gemm", &name), |bench| {
                pool.install(|| bench.iter(|| case.peer(threads)));
            });
        }
        group.finish();
    }
}

fn main() {
    if std::env::args().any(|arg| arg == "--ratios") {
        return ratios();
    }
    let mut criterion = Criterion::default().configure_from_args();
    products(&mut criterion);
    criterion.final_summary();
}
