// CUB's collectives of a warp and of a block, and a scan over blocks by decoupled look-back.
#include <cub/cub.cuh>

constexpr int THREADS = 128;

struct Most {
    __device__ int operator()(int a, int b) const { return a > b ? a : b; }
};

extern "C" __global__ void block_reduce(const int* in, int* out) {
    using Reduce = cub::BlockReduce<int, THREADS, cub::BLOCK_REDUCE_RAKING>;
    using Warps = cub::BlockReduce<int, THREADS, cub::BLOCK_REDUCE_WARP_REDUCTIONS>;
    __shared__ typename Reduce::TempStorage first;
    __shared__ typename Warps::TempStorage second;
    int value = in[blockIdx.x * THREADS + threadIdx.x];
    int sum = Reduce(first).Sum(value);
    int most = Warps(second).Reduce(value, Most(), 100);
    if (threadIdx.x == 0) {
        out[2 * blockIdx.x] = sum;
        out[2 * blockIdx.x + 1] = most;
    }
}

extern "C" __global__ void block_scan(const int* in, long long* out, int* total) {
    using Scan = cub::BlockScan<long long, THREADS, cub::BLOCK_SCAN_WARP_SCANS>;
    using Load = cub::BlockLoad<int, THREADS, 3, cub::BLOCK_LOAD_TRANSPOSE>;
    using Store = cub::BlockStore<long long, THREADS, 3, cub::BLOCK_STORE_WARP_TRANSPOSE>;
    __shared__ union {
        typename Scan::TempStorage scan;
        typename Load::TempStorage load;
        typename Store::TempStorage store;
    } shared;
    int loaded[3];
    Load(shared.load).Load(in, loaded);
    __syncthreads();
    long long items[3] = {loaded[0], loaded[1], loaded[2]};
    long long sum;
    Scan(shared.scan).ExclusiveSum(items, items, sum);
    __syncthreads();
    Store(shared.store).Store(out, items);
    if (threadIdx.x == 0) *total = (int)sum;
}

extern "C" __global__ void radix_sort(unsigned* keys, int* values) {
    using Sort = cub::BlockRadixSort<unsigned, THREADS, 4, int>;
    __shared__ typename Sort::TempStorage shared;
    unsigned key[4];
    int value[4];
    for (int i = 0; i < 4; i++) {
        key[i] = keys[threadIdx.x * 4 + i];
        value[i] = values[threadIdx.x * 4 + i];
    }
    Sort(shared).SortDescending(key, value);
    for (int i = 0; i < 4; i++) {
        keys[threadIdx.x * 4 + i] = key[i];
        values[threadIdx.x * 4 + i] = value[i];
    }
}

extern "C" __global__ void warp_scan(const float* in, float* out, int* heads) {
    using Scan = cub::WarpScan<float>;
    using Segments = cub::WarpReduce<int>;
    __shared__ typename Scan::TempStorage scan[4];
    __shared__ typename Segments::TempStorage segments[4];
    int warp = threadIdx.x / 32;
    float value;
    Scan(scan[warp]).InclusiveSum(in[threadIdx.x], value);
    out[threadIdx.x] = value;
    int sum = Segments(segments[warp]).HeadSegmentedSum((int)threadIdx.x, threadIdx.x % 5 == 0);
    if (threadIdx.x % 5 == 0 || threadIdx.x % 32 == 0) heads[threadIdx.x] = sum;
}

// Each block publishes its sum and looks back at those before it until one has published its prefix.
extern "C" __global__ void look_back(const int* in, int* out, unsigned long long* status) {
    using Scan = cub::BlockScan<int, THREADS>;
    __shared__ typename Scan::TempStorage shared;
    __shared__ int before;
    int index = blockIdx.x * THREADS + threadIdx.x;
    int value, sum;
    Scan(shared).InclusiveSum(in[index], value, sum);
    if (threadIdx.x == 0) {
        volatile unsigned long long* words = status;
        words[blockIdx.x] = 1ULL << 32 | (unsigned)sum;
        __threadfence();
        int prefix = 0;
        for (int block = (int)blockIdx.x - 1; block >= 0; block--) {
            unsigned long long word;
            do word = words[block]; while (word >> 32 == 0);
            prefix += (int)(unsigned)word;
            if (word >> 32 == 2) break;
        }
        words[blockIdx.x] = 2ULL << 32 | (unsigned)(prefix + sum);
        before = prefix;
    }
    __syncthreads();
    out[index] = before + value;
}
