// Intrinsics and functions of scalars.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern "C" __global__ void packed(const unsigned* a, const unsigned* b, unsigned* out) {
    int i = threadIdx.x;
    unsigned x = a[i], y = b[i];
    unsigned* d = out + 12 * i;
    d[0] = __vabsdiffu4(x, y);
    d[1] = __vadd4(x, y);
    d[2] = __vmaxs2(x, y);
    d[3] = __vcmpgtu4(x, y);
    d[4] = __vsadu4(x, y);
    d[5] = __vaddss2(x, y);
    d[6] = __dp4a((int)x, (int)y, 7);
    d[7] = __dp2a_lo(x, y, 7u);
    d[8] = __byte_perm(x, y, 0x6172);
    d[9] = __usad(x, y, 3);
    d[10] = __viaddmax_s32((int)x, (int)y, 5);
    d[11] = __vavgu4(x, y);
}

extern "C" __global__ void warps(const unsigned* in, unsigned* out) {
    int i = threadIdx.x;
    unsigned x = in[i];
    int all;
    unsigned* d = out + 8 * i;
    d[0] = __match_any_sync(~0u, x % 5);
    d[1] = __match_all_sync(~0u, x / 100, &all) + all;
    d[2] = __ballot_sync(~0u, x & 1);
    d[3] = __fns(x, 0, 2);
    d[4] = __shfl_up_sync(~0u, x, 3, 16);
    d[5] = __any_sync(~0u, x == 3) * 2 + __all_sync(~0u, x < 1000);
    d[6] = __brev(x) ^ __ffs(x) ^ __clz(x) ^ __popc(x);
#if __CUDA_ARCH__ >= 800
    d[7] = __reduce_add_sync(~0u, x) ^ __reduce_max_sync(~0u, x) ^ __reduce_xor_sync(~0u, x);
#else
    d[7] = 0;
#endif
}

extern "C" __global__ void roundings(const float* a, const double* b, float* out, double* wide, int* whole) {
    int i = threadIdx.x;
    float x = a[i], y = a[(i + 1) % 32];
    out[8 * i] = __fadd_rz(x, y);
    out[8 * i + 1] = __fmul_ru(x, y);
    out[8 * i + 2] = __fdiv_rd(x, y);
    out[8 * i + 3] = __fmaf_rz(x, y, 0.3f);
    out[8 * i + 4] = __fsqrt_ru(fabsf(x));
    out[8 * i + 5] = __double2float_rd(b[i]);
    out[8 * i + 6] = fminf(x, y) + copysignf(1.0f, x);
    out[8 * i + 7] = __saturatef(x) + truncf(y) + nearbyintf(x);
    wide[2 * i] = __dadd_ru(b[i], 1e-9);
    wide[2 * i + 1] = __ddiv_rz(b[i], 3.0);
    whole[4 * i] = __float2int_ru(x);
    whole[4 * i + 1] = (int)__float2uint_rd(fabsf(y));
    whole[4 * i + 2] = (int)__double2ll_rn(b[i] * 1e6);
    whole[4 * i + 3] = __float_as_int(__int2float_rz(0x7fffff81 + i));
}

extern "C" __global__ void half_pairs(const float* a, unsigned* out) {
    int i = threadIdx.x;
    __half2 x = __floats2half2_rn(a[i], a[(i + 7) % 32]), y = __floats2half2_rn(1.5f, -2.0f);
    __half2 d[6] = {__hadd2_sat(x, y), __hmul2(x, y), __hmax2(x, y), __heq2(x, y), __hgtu2(x, y), h2rint(x)};
    for (int j = 0; j < 6; j++) out[8 * i + j] = *(unsigned*)&d[j];
#if __CUDA_ARCH__ >= 800
    __nv_bfloat162 p = __floats2bfloat162_rn(a[i], 3.0f), q = __floats2bfloat162_rn(0.25f, 3.0f);
    __nv_bfloat162 r[2] = {__hfma2(p, q, p), __hle2(p, q)};
    out[8 * i + 6] = *(unsigned*)&r[0];
    out[8 * i + 7] = *(unsigned*)&r[1];
#endif
}
