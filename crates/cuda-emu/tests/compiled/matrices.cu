// Products of matrices: `wmma` and inline `mma.sync`.
#include <cstdint>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

template <int M, int N, int K, class ALayout, class BLayout>
__device__ void product(const __half* a, const __half* b, float* c, unsigned lda, unsigned ldb) {
    wmma::fragment<wmma::matrix_a, M, N, K, __half, ALayout> fa;
    wmma::fragment<wmma::matrix_b, M, N, K, __half, BLayout> fb;
    wmma::fragment<wmma::accumulator, M, N, K, float> fc;
    wmma::fill_fragment(fc, 1.0f);
    wmma::load_matrix_sync(fa, a, lda);
    wmma::load_matrix_sync(fb, b, ldb);
    wmma::mma_sync(fc, fa, fb, fc);
    for (int i = 0; i < fc.num_elements; i++) fc.x[i] *= 2.0f;
    wmma::store_matrix_sync(c, fc, N, wmma::mem_row_major);
}

extern "C" __global__ void square(const __half* a, const __half* b, float* c) {
    product<16, 16, 16, wmma::row_major, wmma::col_major>(a, b, c, 16, 16);
}
extern "C" __global__ void tall(const __half* a, const __half* b, float* c) {
    product<32, 8, 16, wmma::col_major, wmma::row_major>(a, b, c, 32, 8);
}
extern "C" __global__ void broad(const __half* a, const __half* b, float* c) {
    product<8, 32, 16, wmma::row_major, wmma::row_major>(a, b, c, 16, 32);
}

// Through shared memory, with halves as accumulators.
extern "C" __global__ void halves(const __half* a, const __half* b, __half* c) {
    __shared__ __half tile[256];
    for (int i = threadIdx.x; i < 256; i += 32) tile[i] = a[i];
    __syncthreads();
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, __half> fc;
    wmma::fill_fragment(fc, __float2half(0.0f));
    wmma::load_matrix_sync(fa, tile, 16);
    wmma::load_matrix_sync(fb, b, 16);
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::store_matrix_sync(c, fc, 16, wmma::mem_col_major);
}

extern "C" __global__ void bytes(const int8_t* a, const int8_t* b, int* c) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, int> fc;
    wmma::fill_fragment(fc, 5);
    wmma::load_matrix_sync(fa, (const signed char*)a, 16);
    wmma::load_matrix_sync(fb, (const signed char*)b, 16);
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}

#if __CUDA_ARCH__ >= 800
extern "C" __global__ void doubles(const double* a, const double* b, double* c) {
    wmma::fragment<wmma::matrix_a, 8, 8, 4, double, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 8, 8, 4, double, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 8, 8, 4, double> fc;
    wmma::fill_fragment(fc, 0.0);
    wmma::load_matrix_sync(fa, a, 4);
    wmma::load_matrix_sync(fb, b, 4);
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::store_matrix_sync(c, fc, 8, wmma::mem_row_major);
}

extern "C" __global__ void brains(const __nv_bfloat16* a, const __nv_bfloat16* b, float* c) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    wmma::fill_fragment(fc, 0.0f);
    wmma::load_matrix_sync(fa, a, 16);
    wmma::load_matrix_sync(fb, b, 16);
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}
#endif
