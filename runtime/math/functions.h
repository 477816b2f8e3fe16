/* The whole math library: all functions, their names, their float forms and what they say to errno. */
#ifndef HM_FUNCTIONS_H
#define HM_FUNCTIONS_H

#include "arc.h"
#include "erf.h"
#include "exp.h"
#include "log.h"
#include "roots.h"
#include "trig.h"

/* ONE(name, may a result of 0 be an underflow) for those of one argument, TWO(name) for those of two. */
#define HM_FUNCTIONS(ONE, TWO)                                                                               \
    ONE(exp, 1) ONE(exp2, 1) ONE(expm1, 0) ONE(log, 0) ONE(log2, 0) ONE(log10, 0) ONE(log1p, 0) ONE(sin, 0)  \
    ONE(cos, 0) ONE(tan, 0) ONE(asin, 0) ONE(acos, 0) ONE(atan, 0) ONE(sinh, 0) ONE(cosh, 0) ONE(tanh, 0)    \
    ONE(cbrt, 0) ONE(erf, 0) ONE(erfc, 1) TWO(pow) TWO(atan2) TWO(hypot)

#define HM_EDOM 33
#define HM_ERANGE 34

/* What errno becomes, 0: nothing. As in glibc: EDOM for a NaN made of numbers, ERANGE for a pole or an overflow, and for
   a result that is 0 only because it is so small. Function of one argument: x and y are the same. */
HM_FN int hm_error(double result, double x, double y, int zero_is_small)
{
    if (hm_is_nan(result)) return hm_is_nan(x) || hm_is_nan(y) ? 0 : HM_EDOM;
    if (!hm_is_infinite(result) && !(result == 0 && zero_is_small)) return 0;
    return hm_abs(x) < hm_infinity() && hm_abs(y) < hm_infinity() ? HM_ERANGE : 0;
}

#endif
