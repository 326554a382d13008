//! The whole loop: 64 environments x 128 steps, 4 epochs x 4 minibatches on CartPole, and the variants that peers are
//! compared at.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use lockstep_benches::ppo::{Variant, trainer};

fn update(c: &mut Criterion) {
    let mut group = c.benchmark_group("ppo_update");
    group.sample_size(20);
    for variant in Variant::ALL {
        for threads in [1, 2] {
            let mut trainer = trainer(variant, threads).expect("the variants are valid");
            group.throughput(Throughput::Elements(trainer.config().steps_per_update()));
            group.bench_function(format!("{}/{threads}", variant.name()), |b| {
                b.iter(|| trainer.update().expect("CartPole's numbers are finite"));
            });
        }
    }
    group.finish();
}

criterion_group!(benches, update);
criterion_main!(benches);
