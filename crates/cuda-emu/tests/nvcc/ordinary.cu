// Ordinary CUDA C++, compiled by nvcc 13: nvcc -arch=sm_80 -ptx ordinary.cu
#include <cstdio>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

__constant__ float coefficients[4] = {1, 2, 3, 4};
__device__ int offsets[4] = {10, 20, 30, 40};

__device__ __noinline__ float polynomial(float x, int n) {
    float r = 0;
    for (int i = 0; i < n; i++) r = r * x + coefficients[i & 3];
    return r;
}
__device__ __noinline__ int factorial(int n) { return n <= 1 ? 1 : n * factorial(n - 1); }

typedef float (*Function)(float);
__device__ __noinline__ float twice(float x) { return x + x; }
__device__ __noinline__ float square(float x) { return x * x; }
__device__ Function functions[2] = {twice, square};

extern "C" __global__ void calls(float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    out[i] = polynomial(0.5f * i, 4) + functions[i & 1]((float)i) + factorial(i % 7) + offsets[i & 3];
    if (i % 16 == 3) printf("thread %d: %.2f %s %lld|%5u|%x\n", i, out[i], "is here", 1LL << 40, 7u, 255);
}

extern "C" __global__ void sum(const int* a, int* out, int n) {
    __shared__ int partial[256];
    int v = 0;
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += gridDim.x * blockDim.x) v += a[i];
    partial[threadIdx.x] = v;
    __syncthreads();
    for (int k = 128; k >= 32; k >>= 1) {
        if (threadIdx.x < k) partial[threadIdx.x] += partial[threadIdx.x + k];
        __syncthreads();
    }
    if (threadIdx.x < 32) {
        v = partial[threadIdx.x];
        for (int k = 16; k; k >>= 1) v += __shfl_down_sync(~0u, v, k);
        if (threadIdx.x == 0) atomicAdd(out, v);
    }
}

extern "C" __global__ void doubles(const double* x, double* out) {
    int i = threadIdx.x;
    double v = x[i];
    out[8 * i] = sqrt(v);
    out[8 * i + 1] = exp(v);
    out[8 * i + 2] = log(v);
    out[8 * i + 3] = sin(v * 1000);
    out[8 * i + 4] = pow(v, 1.5);
    out[8 * i + 5] = v / 3;
    out[8 * i + 6] = fmod(v, 0.7);
    out[8 * i + 7] = atan2(v, 2.0);
}

extern "C" __global__ void singles(const float* x, float* out) {
    int i = threadIdx.x;
    float v = x[i];
    out[8 * i] = sqrtf(v);
    out[8 * i + 1] = expf(v);
    out[8 * i + 2] = logf(v);
    out[8 * i + 3] = sinf(v * 100000.0f);
    out[8 * i + 4] = powf(v, 1.5f);
    out[8 * i + 5] = v / 3.0f;
    out[8 * i + 6] = tanhf(v);
    out[8 * i + 7] = rintf(v * 10.0f);
}

extern "C" __global__ void halves(const __half2* a, __nv_bfloat16* b, __half2* out) {
    int i = threadIdx.x;
    out[i] = __hfma2(a[i], __float2half2_rn(2.0f), __float2half2_rn(0.5f));
    b[i] = __float2bfloat16(__low2float(out[i]) + __high2float(out[i]));
}

extern "C" __global__ void integers(const long long* a, long long* out, char* c, unsigned short* s) {
    int i = threadIdx.x;
    long long v = a[i];
    long long digits[8];
    for (int j = 0; j < 8; j++) digits[j] = (v >> (8 * j)) & 0xff;
    long long r = digits[i & 7];
    switch (i & 7) {
        case 0: r += v / 7; break;
        case 1: r += v % 1000003; break;
        case 2: r += __popcll(v); break;
        case 3: r += __clzll(v); break;
        case 4: r += __brevll(v); break;
        case 5: r += __umul64hi(v, v); break;
        case 6: r += __byte_perm((int)v, (int)(v >> 32), 0x1357); break;
        default: r -= __funnelshift_l((int)v, (int)(v >> 32), 5);
    }
    out[i] = r;
    c[i] += (char)v;
    s[i] = (unsigned short)(s[i] * 3 + c[i]);
}
