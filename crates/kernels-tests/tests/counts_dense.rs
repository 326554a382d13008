//! What the dense kernels cost, in counts that no machine's load changes.

mod common;

use common::products::{FORMS, Matrix, on_device};
use common::scan::{Case, Format};
use cuda_builder::manifest::Manifest;
use cuda_emu::{Chains, Counters};
use kernels_tests::{Arg, Bench};
use mingru::bf16;
use std::path::Path;

/// Bytes that move between a multiprocessor and the memory behind it: whole sectors, of 32 bytes.
fn traffic(counters: &Counters) -> usize {
    32 * (counters.global_load_sectors + counters.global_store_sectors) as usize
}

/// That a kernel moves little more than the bytes that it can't do without, and keeps to itself what it may.
fn assert_streams(what: &str, counters: &Counters, ideal: usize) {
    let share = traffic(counters) as f64 / ideal as f64;
    println!("{what}: {share:.3} of the ideal bytes");
    assert!((1.0..=1.1).contains(&share), "{what}: {} bytes, ideal {ideal}", traffic(counters));
    assert_eq!((counters.shared_bank_conflicts, counters.local_requests), (0, 0), "{what}");
}

fn scan_streams<S: Format>(interval: usize) {
    let bench = Bench::new("mingru");
    let (batch, time, hidden) = (2, 40, 96);
    let case = Case::<S>::new(batch, time, hidden);
    let (element, steps) = (size_of::<S>(), batch * time * hidden);
    let chunks = time.div_ceil(interval);
    // `keep`, checkpoints, and the states before and after.
    let beside = 4 * batch * (time + (chunks + 2) * hidden);
    let suffix = S::SUFFIX;
    // combined and x in; out.
    let forward = case.run_forward(&bench, interval).1;
    assert_streams(&format!("forward {suffix}"), &forward, 5 * element * steps + beside);
    // combined, x and d_out in; d_combined and d_x out.
    for warps in [4, 8, 16] {
        let tiled = case.run_tiled(&bench, interval, warps).1;
        assert_streams(&format!("tiled {suffix}, {warps} warps"), &tiled, 9 * element * steps + beside);
    }
    // That, and a state for each step instead of each chunk.
    let reference = case.run_reference(&bench).1;
    let states = 4 * (steps - batch * chunks * hidden);
    assert_streams(&format!("reference {suffix}"), &reference, 9 * element * steps + beside + states);
}

#[test]
fn the_scan_moves_each_byte_once() {
    scan_streams::<f32>(8);
    scan_streams::<bf16>(16);
}

#[test]
fn chains_of_groups_that_arent_whole_have_no_conflicts_either() {
    let bench = Bench::new("mingru");
    for (time, interval, warps) in [(37, 5, 3), (70, 64, 16), (9, 3, 1)] {
        let counters = Case::<f32>::new(1, time, 45).run_tiled(&bench, interval, warps).1;
        assert_eq!((counters.shared_bank_conflicts, counters.local_requests), (0, 0), "{time} {interval} {warps}");
    }
}

#[test]
fn products_load_whole_sectors_and_have_no_conflicts() {
    let bench = Bench::new("gemm");
    // Edges of tiles in all directions, rows of whole sectors.
    let [m, n, k] = [200, 136, 56];
    for form in FORMS {
        let (a, b) = form.operands([m, n, k], 0, false);
        let counters = on_device(&bench, form, [m, n, k], (&a, &b), 0).1;
        assert_eq!((counters.shared_bank_conflicts, counters.local_requests), (0, 0), "{form:?}");
        // Each column of tiles reads A, each row of tiles B.
        let loaded = 4 * (n.div_ceil(64) * m * k + m.div_ceil(128) * n * k) as u64;
        assert_eq!(counters.global_load_bytes, loaded, "{form:?}");
        assert_eq!(counters.global_store_bytes, 4 * (m * n) as u64, "{form:?}");
        assert_eq!(counters.global_load_sectors, loaded / 32, "{form:?}");
        assert_eq!(counters.global_store_sectors, 4 * (m * n) as u64 / 32, "{form:?}");
    }
    // Whole tiles: 16 bytes a lane, 16 sectors a request.
    for form in FORMS {
        let shape = [128, 64, 64];
        let (a, b) = form.operands(shape, 0, false);
        let counters = on_device(&bench, form, shape, (&a, &b), 0).1;
        assert_eq!(counters.global_load_requests, ((128 + 64) * 64) as u64 / 4 / 32, "{form:?}");
        assert_eq!(counters.global_load_sectors, 16 * counters.global_load_requests, "{form:?}");
        assert_eq!(counters.global_store_sectors, 16 * counters.global_store_requests, "{form:?}");
    }
}

#[test]
fn most_instructions_of_a_product_are_its_multiplications() {
    let bench = Bench::new("gemm");
    let shape = [128, 64, 1024];
    for form in FORMS {
        let (a, b) = form.operands(shape, 0, false);
        let counters = on_device(&bench, form, shape, (&a, &b), 0).1;
        let multiplications = shape.iter().product::<usize>() as f64;
        let share = multiplications / counters.lane_instructions as f64;
        println!("{form:?}: {share:.3} of all instructions");
        assert!(share > 0.75, "{form:?}: {share}");
        // 4 loads from shared memory of 16 bytes a lane for 64 multiplications.
        assert_eq!(counters.shared_load_requests, multiplications as u64 / 64 / 32 * 4, "{form:?}");
    }
}

#[test]
fn sums_read_each_element_once() {
    let bench = Bench::new("sum");
    let a = Matrix::new(2048, 64, 0, 1, false);
    let (data, sizes) = (bench.buffer(&a.data), [2048, 64, 64].map(Arg::U32));
    let parts = bench.room::<f32>(2 * 64);
    let args = [&[(&data).into(), (&parts).into()], &sizes[..]].concat();
    let counters = bench.run("sum_rows_f32", 4 * 1024, 1024, &args);
    assert_streams("sum_rows", &counters, 4 * (2048 * 64 + 2 * 64));

    let a = Matrix::new(16, 2048, 0, 1, false);
    let (data, out) = (bench.buffer(&a.data), bench.room::<f32>(16));
    let args = [&[(&data).into(), (&out).into()], &[16, 2048, 2048].map(Arg::U32)[..]].concat();
    let counters = bench.run("sum_cols_f32", 16 * 32, 128, &args);
    assert_streams("sum_cols", &counters, 4 * (16 * 2048 + 16));

    let (count, n) = (5, 1024);
    let (parts, out) = (bench.buffer(&vec![1.0_f32; count * n]), bench.room::<f32>(n));
    let args = [&[(&parts).into(), (&out).into()], &[count as u32, 16, 64, 64].map(Arg::U32)[..]].concat();
    assert_streams("join_parts", &bench.run("join_parts_f32", n, 256, &args), 4 * (count + 1) * n);
}

#[test]
fn updates_and_estimates_move_each_byte_once() {
    let n = 4096;
    let bench = Bench::new("optim");
    let (step, gradient) = (bench.buffer(&[0.5_f32; 8]), bench.buffer(&vec![0.25_f32; n]));
    let [first, second, parameters] = [0.1_f32, 0.2, 0.3].map(|x| bench.buffer(&vec![x; n]));
    let args = [&step, &gradient, &first, &second, &parameters].map(Arg::from);
    let adam = bench.run("adam_step_f32", n, 256, &[&args[..], &[Arg::U32(n as u32)]].concat());
    assert_streams("adam_step", &adam, 4 * 7 * n);

    let (steps, batch) = (20, 128);
    let n = steps * batch;
    let bench = Bench::new("advantage");
    let (numbers, flags) = (bench.buffer(&vec![0.5_f32; n]), bench.buffer(&vec![0_u8; n]));
    let (last, failed) = (bench.buffer(&vec![0.5_f32; batch]), bench.buffer(&[u32::MAX]));
    let (advantages, returns) = (bench.room::<f32>(n), bench.room::<f32>(n));
    let mut args: Vec<Arg> = vec![(&numbers).into(), (&numbers).into(), (&flags).into(), (&flags).into()];
    args.extend([Arg::from(&numbers), (&last).into(), (&advantages).into(), (&returns).into(), (&failed).into()]);
    args.extend([Arg::U32(steps as u32), Arg::U32(batch as u32), Arg::F32(0.9), Arg::F32(0.8)]);
    let gae = bench.run("gae_f32", batch, 64, &args);
    // Rewards and values of 4 bytes and two flags in, both results out; where an episode ends, `bootstrap` too.
    assert_streams("gae", &gae, n * (2 * 4 + 2 + 2 * 4) + 4 * batch);
}

/// A GPU with 132 multiprocessors of 4 schedulers, 64 Ki registers and 2,048 threads.
struct Model;

impl Model {
    const MULTIPROCESSORS: f64 = 132.0;
    const SCHEDULERS: f64 = 4.0;
    const REGISTERS: u32 = 1 << 16;
    const THREADS: u32 = 2048;

    /// Blocks that a multiprocessor holds, by registers (given out to warps in units of 256) and threads.
    fn resident(registers: u32, width: u32) -> u32 {
        let warp = (32 * registers).next_multiple_of(256);
        (Self::REGISTERS / warp / (width / 32)).min(Self::THREADS / width)
    }

    /// Cycles of a launch, the larger of two bounds: one batch of resident blocks comes after another, each of which takes
    /// as long as a block's longest chain; and a scheduler starts one instruction a cycle.
    fn cycles(launch: &Launch) -> f64 {
        let places = Self::MULTIPROCESSORS * f64::from(Self::resident(launch.registers, launch.width));
        let issue = launch.blocks * launch.instructions / (Self::MULTIPROCESSORS * Self::SCHEDULERS);
        ((launch.blocks / places).ceil() * launch.chain).max(issue)
    }
}

/// What the model knows of a launch.
struct Launch {
    blocks: f64,
    /// Threads of a block.
    width: u32,
    registers: u32,
    /// Instructions of a block.
    instructions: f64,
    /// Its longest chain, in cycles.
    chain: f64,
}

fn registers(kernel: &str) -> u32 {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../kernels-gpu/ptx/manifest.json");
    Manifest::read(&path).unwrap().modules["mingru"].kernels[kernel].costs["sm_90"].registers
}

/// Steps of the scans that are compared.
const TIME: usize = 128;

/// The scan of a row of 32 units; `None` warps stand for the reference.
fn backward<S: Format>(chains: Chains, time: usize, warps: Option<u32>) -> Counters {
    let mut bench = Bench::counting("mingru");
    bench.options.chains = Some(chains);
    let case = Case::<S>::new(1, time, 32);
    warps.map_or_else(|| case.run_reference(&bench), |warps| case.run_tiled(&bench, 8, warps)).1
}

/// Speed-up of the tiled over the reference backward scan in the model, for `batch` rows of 256 units and 128 steps, K = 8.
fn speed_up<S: Format>(batch: usize, warps: u32) -> f64 {
    const TILES: usize = 256 / 32;
    let launch = |name: &str, warps: Option<u32>| {
        // Tiles are alike: one stands for all.
        let counters = backward::<S>(Chains::CYCLES, TIME, warps);
        Launch {
            blocks: (batch * TILES) as f64,
            width: 32 * warps.unwrap_or(1),
            registers: registers(&format!("mingru_scan_backward_{name}_{}", S::SUFFIX)),
            instructions: counters.instructions as f64,
            chain: counters.longest_chain as f64,
        }
    };
    let (reference, tiled) = (launch("reference", None), launch("tiled", Some(warps)));
    let speed_up = Model::cycles(&reference) / Model::cycles(&tiled);
    let chains = reference.chain / tiled.chain;
    println!("B = {batch}, {}, {warps} warps: chain {chains:.2} times shorter, {speed_up:.2} times faster", S::SUFFIX);
    speed_up
}

/// In cycles, with basic blocks in order: the reference waits for memory at each step, the tiles at each window.
#[test]
fn the_longest_chain_is_shorter_by_tiles() {
    fn shorter<S: Format>(warps: u32) -> f64 {
        let [reference, tiled] =
            [None, Some(warps)].map(|warps| backward::<S>(Chains::CYCLES, TIME, warps).longest_chain);
        println!("{}, {warps} warps: {tiled} cycles, the reference {reference}", S::SUFFIX);
        reference as f64 / tiled as f64
    }
    for (warps, times) in [(2, 2.5), (4, 4.5), (8, 8.0), (16, 12.0)] {
        assert!(shorter::<f32>(warps) > times, "{warps} warps");
        assert!(shorter::<bf16>(warps) > times, "{warps} warps");
    }
}

/// What can't be done side by side, whatever the hardware. A step of the carry is an addition and a multiplication; that is all
/// that another step adds to the chain of tiles of 8 warps. In the reference it runs beside the loop's count, comparison and
/// branch, of which each needs the one before.
#[test]
fn a_step_adds_no_more_to_the_chain_than_its_carry() {
    let needs = |time, warps| backward::<f32>(Chains::NEEDS, time, warps).longest_chain;
    for warps in [None, Some(4), Some(8)] {
        println!("{warps:?} warps: {} instructions need each other", needs(TIME, warps));
    }
    assert_eq!(needs(2 * TIME, Some(8)) - needs(TIME, Some(8)), 2 * TIME as u64);
    assert_eq!(needs(2 * TIME, None) - needs(TIME, None), 3 * TIME as u64);
    // Tiles of fewer warps have more windows, each with two barriers.
    assert!(needs(TIME, Some(4)) > needs(TIME, Some(8)));
}

/// The model is crude: it knows neither caches nor bandwidth, takes instructions of PTX for those of the machine, and lets the
/// waiting of one warp be hidden by all others. It says where the two kernels stand to each other.
#[test]
fn what_follows_for_132_multiprocessors() {
    // Few rows: the reference has a warp for each scheduler, which waits most of the time.
    assert!(speed_up::<f32>(64, 4) > 3.0);
    assert!(speed_up::<bf16>(64, 4) > 2.5);
    // Many rows hide the waiting; what remains is that the tiled scan has more instructions.
    assert!(speed_up::<f32>(64, 4) > speed_up::<f32>(256, 4));
    assert!(speed_up::<bf16>(64, 4) > speed_up::<bf16>(256, 4));
}
