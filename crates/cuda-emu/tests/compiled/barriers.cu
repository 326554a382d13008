// Barriers that are objects, asynchronous copies, locks.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>

namespace cg = cooperative_groups;
#pragma nv_diag_suppress static_var_with_dynamic_init

extern "C" __global__ void turn_around(const int* in, int* out, int rounds) {
    __shared__ cuda::barrier<cuda::thread_scope_block> filled, used;
    __shared__ int tile[128];
    auto block = cg::this_thread_block();
    if (block.thread_rank() == 0) {
        init(&filled, block.size());
        init(&used, block.size());
    }
    block.sync();
    int value = in[threadIdx.x];
    for (int round = 0; round < rounds; round++) {
        tile[threadIdx.x] = value + round;
        auto token = filled.arrive();
        filled.wait(std::move(token));
        value = tile[127 - threadIdx.x];
        used.arrive_and_wait();
    }
    out[threadIdx.x] = value;
}

// Half of the warps produce, the others consume.
extern "C" __global__ void producers(const int* in, int* out) {
    __shared__ cuda::barrier<cuda::thread_scope_block> ready[2], empty[2];
    __shared__ int buffer[2][64];
    auto block = cg::this_thread_block();
    if (threadIdx.x < 2) {
        init(&ready[threadIdx.x], 128);
        init(&empty[threadIdx.x], 128);
    }
    block.sync();
    unsigned lane = threadIdx.x % 64;
    if (threadIdx.x < 64) {
        for (int i = 0; i < 4; i++) {
            empty[i & 1].arrive_and_wait();
            buffer[i & 1][lane] = in[i * 64 + lane];
            (void)ready[i & 1].arrive();
        }
    } else {
        (void)empty[0].arrive();
        (void)empty[1].arrive();
        int sum = 0;
        for (int i = 0; i < 4; i++) {
            ready[i & 1].arrive_and_wait();
            sum = sum * 3 + buffer[i & 1][63 - lane];
            (void)empty[i & 1].arrive();
        }
        out[lane] = sum;
    }
}

extern "C" __global__ void stages(const int4* in, int4* out) {
    __shared__ int4 tile[2][64];
    cuda::pipeline<cuda::thread_scope_thread> pipe = cuda::make_pipeline();
    int4 sum = {0, 0, 0, 0};
    auto fetch = [&](int i) {
        pipe.producer_acquire();
        cuda::memcpy_async(&tile[i & 1][threadIdx.x], &in[i * 64 + threadIdx.x], cuda::aligned_size_t<16>(16), pipe);
        pipe.producer_commit();
    };
    fetch(0);
    for (int i = 0; i < 4; i++) {
        if (i < 3) {
            fetch(i + 1);
            cuda::pipeline_consumer_wait_prior<1>(pipe);
        } else {
            cuda::pipeline_consumer_wait_prior<0>(pipe);
        }
        int4 value = tile[i & 1][threadIdx.x];
        sum = {sum.x + value.x, sum.y - value.y, sum.z ^ value.z, sum.w + 2 * value.w};
        pipe.consumer_release();
    }
    out[threadIdx.x] = sum;
}

extern "C" __global__ void group_copy(const int* in, int* out) {
    __shared__ alignas(16) int tile[256];
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    auto block = cg::this_thread_block();
    if (block.thread_rank() == 0) init(&bar, block.size());
    block.sync();
    cuda::memcpy_async(block, tile, in, cuda::aligned_size_t<16>(sizeof(tile)), bar);
    bar.arrive_and_wait();
    int first = tile[(threadIdx.x * 5) % 256];
    block.sync();
    cg::memcpy_async(block, tile, in + 256, sizeof(tile));
    cg::wait(block);
    out[threadIdx.x] = first * 1000 + tile[255 - threadIdx.x];
}

// Every thread takes a lock: those of a warp one after the other.
extern "C" __global__ void locks(int* lock, int* value) {
    bool done = false;
    while (!done) {
        if (atomicCAS(lock, 0, 1) == 0) {
            __threadfence();
            *(volatile int*)value = *(volatile int*)value * 3 % 1009 + 1;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
    }
}
extern "C" __global__ void spin(int* lock, int* value) {
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
    *(volatile int*)value += 1;
    __threadfence();
    atomicExch(lock, 0);
}

extern "C" __global__ void all_atomics(int* a, long long* b, double* c, float* d, unsigned* u, unsigned short* s) {
    int i = threadIdx.x;
    cuda::atomic_ref<int, cuda::thread_scope_device>(a[0]).fetch_add(i, cuda::memory_order_relaxed);
    cuda::atomic_ref<long long, cuda::thread_scope_system>(b[0]).fetch_max((long long)i * 1000);
    cuda::atomic_ref<double, cuda::thread_scope_device>(c[0]).fetch_add(0.5);
    cuda::atomic_ref<unsigned, cuda::thread_scope_block>(u[0]).fetch_xor(1u << (i % 32));
    atomicAdd(d, 1.0f);
    atomicAdd_system(&d[1], 2.0f);
    atomicAdd_block(&a[1], 2);
    atomicMin(&a[2], -i);
    atomicMax(&a[3], i * 7 % 50);
    atomicSub(&a[4], i);
    atomicInc(&u[1], 20);
    atomicDec(&u[2], 20);
    atomicOr(&u[3], 1u << (i % 31));
    atomicAnd(&u[4], ~(1u << (i % 31)));
    if (i == 5) atomicExch(&u[5], 77u);
    atomicCAS(&s[1], (unsigned short)0, (unsigned short)9);
    float old = d[2 + i], next;
    cuda::atomic_ref<float, cuda::thread_scope_device> ref(d[2 + i]);
    do next = old * 2 + 1; while (!ref.compare_exchange_weak(old, next));
}
