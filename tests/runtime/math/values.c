/* Reads lines `number x y`, arguments as 16 hex digits, and prints each result likewise. Linked with filter.c. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "names.h"

#define SAME(name, S) name##S

int main(void)
{
    static double (*const ones[ONES])(double) = TABLE(SAME, );
    static double (*const twos[TWOS])(double, double) = TABLE2(SAME, );
    int n;
    uint64_t x, y;

    while (scanf("%d %" SCNx64 " %" SCNx64, &n, &x, &y) == 3)
        printf("%016" PRIx64 "\n", bits_in(n < ONES ? ones[n](real(x)) : twos[n - ONES](real(x), real(y))));
    return 0;
}
