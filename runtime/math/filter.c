/* The math library as the C library's functions, linked into CPU filters ahead of -lm. See docs/decisions/0007.
 *
 * Weak: a function of that name in the user's program is the one that is called, as it is with the C library's. Nothing
 * here calls a function of the C library (sqrt is an instruction; by name it would be asked only for a negative number).
 */
#include <errno.h>

#include "functions.h"

#define HM_C __attribute__((weak))

#define ONE(name, small)                                       \
    HM_C double name(double x)                                 \
    {                                                          \
        const double r = hm_##name(x);                         \
        const int error = hm_error(r, x, x, small);            \
        if (error) errno = error;                              \
        return r;                                              \
    }                                                          \
    HM_C float name##f(float x)                                \
    {                                                          \
        const float r = hm_narrow(hm_##name(hm_widen(x)));     \
        const int error = hm_error(r, x, x, small);            \
        if (error) errno = error;                              \
        return r;                                              \
    }

#define TWO(name)                                                           \
    HM_C double name(double x, double y)                                    \
    {                                                                       \
        const double r = hm_##name(x, y);                                   \
        const int error = hm_error(r, x, y, x != 0);                        \
        if (error) errno = error;                                           \
        return r;                                                           \
    }                                                                       \
    HM_C float name##f(float x, float y)                                    \
    {                                                                       \
        const float r = hm_narrow(hm_##name(hm_widen(x), hm_widen(y)));     \
        const int error = hm_error(r, x, y, x != 0);                        \
        if (error) errno = error;                                           \
        return r;                                                           \
    }

HM_FUNCTIONS(ONE, TWO)
