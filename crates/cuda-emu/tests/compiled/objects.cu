// Virtual functions, memory from `new`, `alloca`, arrays and structures of a thread, 128-bit integers, `printf`.
#include <cstdio>

struct Shape {
    __device__ virtual float area() const = 0;
    __device__ virtual ~Shape() {}
};
struct Square : Shape {
    float side;
    __device__ Square(float side) : side(side) {}
    __device__ float area() const override { return side * side; }
};
struct Box : Square {
    float height;
    __device__ Box(float side, float height) : Square(side), height(height) {}
    __device__ float area() const override { return 2 * Square::area() + 4 * side * height; }
};

extern "C" __global__ void shapes(float* out) {
    Shape* shape;
    if (threadIdx.x & 1) shape = new Square(threadIdx.x);
    else shape = new Box(threadIdx.x, 0.5f);
    out[threadIdx.x] = shape->area();
    delete shape;
}

extern "C" __global__ void exhausted(int* out, size_t bytes) {
    char* p = (char*)malloc(bytes);
    out[threadIdx.x] = p != nullptr;
    if (p) p[bytes - 1] = 1;
    free(p);
}

extern "C" __global__ void on_stack(unsigned* out, const int* sizes) {
    int n = sizes[threadIdx.x];
    unsigned sum = 0;
    for (int round = 0; round < 3; round++) {
        unsigned* p = (unsigned*)alloca(n * sizeof(unsigned));
        for (int i = 0; i < n; i++) p[i] = i * threadIdx.x + round;
        for (int i = n; i-- > 0;) sum += p[(i * 7) % n];
    }
    out[threadIdx.x] = sum;
}

struct Padded {
    char letter;
    double number;
    short tail;
};
__device__ __noinline__ Padded step(Padded p, int by) {
    p.letter += by;
    p.number *= 1.5;
    p.tail -= by;
    return p;
}
extern "C" __global__ void structures(double* out, int n) {
    Padded list[4];
    for (int i = 0; i < 4; i++) list[i] = Padded{(char)i, i + 0.25 * threadIdx.x, (short)(100 * i)};
    for (int i = 0; i < n; i++) list[(i + threadIdx.x) & 3] = step(list[i & 3], i);
    double sum = 0;
    for (int i = 0; i < 4; i++) sum += list[i].letter + list[i].number + list[i].tail;
    out[threadIdx.x] = sum;
}

extern "C" __global__ void wide(__int128* a, unsigned __int128* b) {
    int i = threadIdx.x;
    a[i] = a[i] * 3 - (__int128)(b[i] / 7);
    b[i] ^= b[i] >> (i & 127);
}

extern "C" __global__ void print(int* out) {
    out[threadIdx.x] = printf("%3d|%-6s|%08.3f|%e|%c|%p|%llu|%%\n", threadIdx.x, "abc", 1.5 * threadIdx.x, -0.001, 'z', (void*)16, ~0ULL);
}
