/* Says how this machine's C library, and the compiler with the words that it is called with, behave: compiled as programs are
 * and run once, before kernels are made (heterodoop/probe.py has what kernels follow). `library` is the first line. */
#include "probe.h"

#include <float.h>
#include <stddef.h>
#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

/* How C is understood: what an expression is here, and what kernels take it for. */
#define EXPECT(what, holds) printf("language:%s %d\n", what, (holds) ? 1 : 0)

enum small { ONE_VALUE };

struct padded {
    char letter;
    int number;
};

struct bits {
    int one : 1;
};

void probe_language(void)
{
    volatile double one = 1, tiny = 1e-17, three = 3, nothing = 0, huge = DBL_MAX;
    volatile float least = 1e-45f;
    volatile int seven = 7;
    const struct bits bits = {-1};
    double sum = 0, rest = 0;

    for (int i = 0; i < 8; i++) {
        const double term = (i ? tiny : one) - rest, next = sum + term;
        rest = next - sum - term;
        sum = next;
    }
    EXPECT("char is signed", (char)-1 < 0);
    EXPECT("bit-fields are signed", bits.one < 0);
    EXPECT("an enum is an int", sizeof(enum small) == sizeof(int));
    EXPECT("structs are padded", sizeof(struct padded) == 8 && offsetof(struct padded, number) == 4);
    EXPECT("long and pointers have 64 bits", sizeof(long) == 8 && sizeof(void *) == 8 && sizeof(size_t) == 8);
    EXPECT("long double has 80 bits", LDBL_MANT_DIG == 64);
    EXPECT("wchar_t has 32 bits", sizeof(L'a') == 4);
    EXPECT("constants are doubles", sizeof(0.1) == sizeof(double));
    EXPECT("texts are UTF-8 and ASCII", 'A' == 65 && '\n' == 10 && sizeof("\u00e4") == 3);
    EXPECT("expressions have their own type", FLT_EVAL_METHOD == 0);
    EXPECT("arithmetic is IEEE 754's", rest != 0 && nothing / nothing != nothing / nothing && huge * 10 > huge
           && least > 0 && 1 / (-nothing) < 0 && one / three * three == one && seven / three == 7.0 / 3);
}

int main(void)
{
#ifdef __GLIBC__
    printf("library glibc %s\n", gnu_get_libc_version());
#else
    printf("library unknown\n");
#endif
    probe_language();
    probe_numbers();
    probe_scan();
    probe_print();
    probe_strings();
    probe_math();
    probe_sorts();
    return 0;
}
