// Cooperative groups: tiles, reductions, scans, partitions, coalesced groups.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

extern "C" __global__ void tiles(const int* in, int* out) {
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<8>(block);
    auto warp = cg::tiled_partition<32>(block);
    unsigned i = block.thread_rank();
    int value = in[i];
    out[8 * i] = cg::reduce(tile, value, cg::plus<int>());
    out[8 * i + 1] = cg::inclusive_scan(tile, value);
    out[8 * i + 2] = cg::reduce(warp, value, cg::greater<int>());
    out[8 * i + 3] = tile.shfl_xor(value, 3) + tile.meta_group_rank();
    out[8 * i + 4] = tile.any(value == 7);
    auto part = cg::binary_partition(warp, value % 3 == 0);
    out[8 * i + 5] = part.size() * 100 + part.thread_rank();
    out[8 * i + 6] = -1;
    if (value & 1) {
        auto active = cg::coalesced_threads();
        out[8 * i + 6] = cg::reduce(active, value, cg::plus<int>());
    }
    block.sync();
    auto labels = cg::labeled_partition(warp, value % 4);
    out[8 * i + 7] = cg::exclusive_scan(labels, value);
}

extern "C" __global__ void aggregated(unsigned* counter, unsigned* tickets) {
    auto active = cg::coalesced_threads();
    unsigned first = 0;
    if (active.thread_rank() == 0) first = atomicAdd(counter, active.size());
    tickets[blockIdx.x * blockDim.x + threadIdx.x] = active.shfl(first, 0) + active.thread_rank();
}

// All blocks wait for each other, twice.
extern "C" __global__ void grid(unsigned* arrived, unsigned* values) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    for (unsigned round = 1; round <= 2; round++) {
        values[round * n + i] = values[(round - 1) * n + (n - 1 - i)] + round;
        __threadfence();
        __syncthreads();
        if (threadIdx.x == 0) {
            atomicAdd(arrived, 1);
            while (*(volatile unsigned*)arrived < round * gridDim.x) {
            }
            __threadfence();
        }
        __syncthreads();
    }
    values[3 * n + i] = values[2 * n + (i + blockDim.x) % n];
}
