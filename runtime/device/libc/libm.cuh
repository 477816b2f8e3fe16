// math.h's functions whose last bit is a library's own affair (exp, log, pow, sin ...): the text of runtime/math, which the
// CPU filters are linked with too. Names as in C; with the lane's errno first where the program looks at it.
#pragma once

#include "lane/base.cuh"

namespace hd {
namespace libm {
#include "../../math/functions.h"
}  // namespace libm

#define HD_ONE(name, small)                                                                             \
    HD_DEVICE double name(double x) { return libm::hm_##name(x); }                                      \
    HD_DEVICE float name##f(float x) { return libm::hm_narrow(libm::hm_##name(libm::hm_widen(x))); }    \
    HD_DEVICE double name(int &err, double x) {                                                         \
        const double result = hd::name(x);                                                              \
        if (const int error = libm::hm_error(result, x, x, small)) err = error;                         \
        return result;                                                                                  \
    }                                                                                                   \
    HD_DEVICE float name##f(int &err, float x) {                                                        \
        const float result = hd::name##f(x);                                                            \
        if (const int error = libm::hm_error(result, x, x, small)) err = error;                         \
        return result;                                                                                  \
    }
#define HD_TWO(name)                                                                                    \
    HD_DEVICE double name(double x, double y) { return libm::hm_##name(x, y); }                         \
    HD_DEVICE float name##f(float x, float y) {                                                         \
        return libm::hm_narrow(libm::hm_##name(libm::hm_widen(x), libm::hm_widen(y)));                  \
    }                                                                                                   \
    HD_DEVICE double name(int &err, double x, double y) {                                               \
        const double result = hd::name(x, y);                                                           \
        if (const int error = libm::hm_error(result, x, y, x != 0)) err = error;                        \
        return result;                                                                                  \
    }                                                                                                   \
    HD_DEVICE float name##f(int &err, float x, float y) {                                               \
        const float result = hd::name##f(x, y);                                                         \
        if (const int error = libm::hm_error(result, x, y, x != 0)) err = error;                        \
        return result;                                                                                  \
    }
HM_FUNCTIONS(HD_ONE, HD_TWO)
#undef HD_ONE
#undef HD_TWO

}  // namespace hd
