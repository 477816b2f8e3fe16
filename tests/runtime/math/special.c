/* Results that are exact by Annex F of the C standard, and errno, against the C library of this machine (glibc).
 *
 * All pairs of a list of numbers: where the C library's result is 0, infinite, 1, -1 or 2, ours has the same bits; both are
 * NaN or none; errno is the same everywhere.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "functions.h"
#include "names.h"

#define THEIRS(name, S) name##S
#define OURS(name, S) hm_##name
#define SMALL(name, small) small,
#define NOTHING(name)

static double values[] = {
    0, 0x1p-1074, 0x1p-1060, 0x1p-1022, 0x1p-1000, 0x1p-60, 0x1p-30, 0.25, 0.5, 0.99, 1, 1.5, 2, 3, 4, 8, 27, 30, 100, 1000,
    1001, 1024, 1100, 0x1p31, 0x1.8p52, 0x1p53, 0x1.0000000000001p53, 0x1p64, 0x1p500, 0x1p1000, 0x1.fffffffffffffp1023,
    INFINITY, NAN,
};
enum { COUNT = sizeof values / sizeof *values };

static int wrong;

static int exact(double r) { return r == 0 || isinf(r) || r == 1 || r == -1 || r == 2; }

static void check(int n, double x, double y, double ours, double theirs, int ours_error, int theirs_error)
{
    const int one = n < ONES, nan_in = isnan(x) || isnan(y);
    int same = isnan(theirs) ? isnan(ours) : !exact(theirs) || bits_in(ours) == bits_in(theirs);

    if (isnan(ours) && !nan_in) same = same && signbit(ours); /* an invalid operation's NaN is x86's */
    if (one && isnan(ours) && nan_in) same = same && !signbit(ours) == !signbit(x);
    if (same && ours_error == theirs_error) return;
    printf("%s(%a, %a): %a, errno %d, ", names[n], x, y, ours, ours_error);
    printf("the C library's %a, errno %d\n", theirs, theirs_error);
    wrong = 1;
}

static void check_one(int n, double x)
{
    static double (*const theirs[ONES])(double) = TABLE(THEIRS, );
    static double (*const ours[ONES])(double) = TABLE(OURS, );
    static const int small[ONES] = {HM_FUNCTIONS(SMALL, NOTHING)};
    double r;
    int error;

    errno = 0;
    r = theirs[n](x);
    error = errno;
    check(n, x, x, ours[n](x), r, hm_error(ours[n](x), x, x, small[n]), error);
}

static void check_two(int n, double x, double y)
{
    static double (*const theirs[TWOS])(double, double) = TABLE2(THEIRS, );
    static double (*const ours[TWOS])(double, double) = TABLE2(OURS, );
    double r;
    int error;

    errno = 0;
    r = theirs[n - ONES](x, y);
    error = errno;
    check(n, x, y, ours[n - ONES](x, y), r, hm_error(ours[n - ONES](x, y), x, y, x != 0), error);
}

int main(void)
{
    for (int i = 0; i < 2 * COUNT; i++) {
        const double x = i < COUNT ? values[i] : -values[i - COUNT];
        for (int n = 0; n < ONES; n++) check_one(n, x);
        for (int j = 0; j < 2 * COUNT; j++)
            for (int n = ONES; n < NAMES; n++) check_two(n, x, j < COUNT ? values[j] : -values[j - COUNT]);
    }
    return wrong;
}
