// A hash of every function's results and errno for so many arguments (argv[1]): compiled against the filter's object as
// C functions, or with -DDEVICE against the device's header. Both must print the same.
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>

#include "names.h"

#ifdef DEVICE
#include "libc/libm.cuh"
#define ONE(name, S) [](double x) { return hd::name(errno, x); }
#define FLOAT(name, S) [](float x) { return hd::name##f(errno, x); }
#define TWO(name, S) [](double x, double y) { return hd::name(errno, x, y); }
#define FLOAT2(name, S) [](float x, float y) { return hd::name##f(errno, x, y); }
#else
#include <math.h>
#define ONE(name, S) [](double x) { return ::name(x); }
#define FLOAT(name, S) [](float x) { return ::name##f(x); }
#define TWO(name, S) [](double x, double y) { return ::name(x, y); }
#define FLOAT2(name, S) [](float x, float y) { return ::name##f(x, y); }
#endif

static uint32_t bits_in(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static uint64_t mix(uint64_t hash, uint64_t value) { return (hash ^ value) * 1099511628211u; }

int main(int, char **argv) {
    static double (*const ones[])(double) = TABLE(ONE, );
    static float (*const floats[])(float) = TABLE(FLOAT, );
    static double (*const twos[])(double, double) = TABLE2(TWO, );
    static float (*const floats2[])(float, float) = TABLE2(FLOAT2, );
    for (int n = 0; n < NAMES; n++) {
        uint64_t hash = 14695981039346656037u;
        for (long left = atol(argv[1]); left; left--) {
            const double x = argument(), y = argument();
            const float s = static_cast<float>(x), t = static_cast<float>(y);
            errno = 0;
            hash = mix(hash, bits_in(n < ONES ? ones[n](x) : twos[n - ONES](x, y)));
            hash = mix(hash, bits_in(n < ONES ? floats[n](s) : floats2[n - ONES](s, t)));
            hash = mix(hash, static_cast<uint64_t>(errno));
        }
        printf("%s %016" PRIx64 "\n", names[n], hash);
    }
}
