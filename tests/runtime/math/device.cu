// Every function on the GPU and as the filter's object has it, double and float form and errno, for argv[1] arguments each:
// prints the first that differ, and ends with 1 if there are any. Linked with filter.c's object.
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <math.h>

#include "libc/libm.cuh"
#include "names.h"

struct Case {  // floats as bits: converting a NaN would change it
    double x, y, result;
    uint32_t s, t, single;
    int error;
};

__global__ void device(int function, int count, Case *cases) {
    using namespace hd::libm;
    enum { START = __COUNTER__ + 1 };
    for (int n = blockIdx.x * blockDim.x + threadIdx.x; n < count; n += gridDim.x * blockDim.x) {
        Case &c = cases[n];
        const float s = __uint_as_float(c.s), t = __uint_as_float(c.t);
        float single = 0;
        c.error = 0;
        switch (function) {
#define ONE(name, small)                                 \
    case __COUNTER__ - START:                            \
        c.result = hd::name(c.error, c.x);               \
        single = hd::name##f(c.error, s);                \
        break;
#define TWO(name)                                        \
    case __COUNTER__ - START:                            \
        c.result = hd::name(c.error, c.x, c.y);          \
        single = hd::name##f(c.error, s, t);             \
        break;
            HM_FUNCTIONS(ONE, TWO)
        }
        c.single = __float_as_uint(single);
    }
}

static uint32_t bits_in(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static float single_of(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

#define DOUBLE(name, S) static_cast<double (*)(double)>(::name)
#define SINGLE(name, S) static_cast<float (*)(float)>(::name##f)
#define DOUBLE2(name, S) static_cast<double (*)(double, double)>(::name)
#define SINGLE2(name, S) static_cast<float (*)(float, float)>(::name##f)

static long differing(int n, int count, const Case *cases) {
    static double (*const ones[])(double) = TABLE(DOUBLE, );
    static float (*const singles[])(float) = TABLE(SINGLE, );
    static double (*const twos[])(double, double) = TABLE2(DOUBLE2, );
    static float (*const singles2[])(float, float) = TABLE2(SINGLE2, );
    long wrong = 0;
    for (int i = 0; i < count; i++) {
        const Case &c = cases[i];
        const float s = single_of(c.s), t = single_of(c.t);
        errno = 0;
        const double result = n < ONES ? ones[n](c.x) : twos[n - ONES](c.x, c.y);
        const float single = n < ONES ? singles[n](s) : singles2[n - ONES](s, t);
        if (bits_in(result) == bits_in(c.result) && bits_in(single) == c.single && errno == c.error) continue;
        if (wrong++ >= 3) continue;
        printf("%s(%a, %a): %a %a %d, ", names[n], c.x, c.y, result, single, errno);
        printf("GPU %a %a %d\n", c.result, single_of(c.single), c.error);
    }
    return wrong;
}

int main(int, char **argv) {
    const int count = atoi(argv[1]);
    Case *cases;
    long wrong = 0;
    if (cudaMallocManaged(&cases, count * sizeof(Case)) != cudaSuccess) return 2;
    for (int n = 0; n < NAMES; n++) {
        for (int i = 0; i < count; i++) {
            const double x = argument(), y = argument();
            cases[i] = {x, y, 0, bits_in(static_cast<float>(x)), bits_in(static_cast<float>(y)), 0, 0};
        }
        device<<<256, 256>>>(n, count, cases);
        if (cudaDeviceSynchronize() != cudaSuccess) return 2;
        wrong += differing(n, count, cases);
    }
    printf("%ld of %d results differ\n", wrong, count * NAMES);
    return wrong != 0;
}
