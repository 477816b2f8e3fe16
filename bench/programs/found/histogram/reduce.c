#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    int k, last = -2;
    long n, sum = 0;

    for (;;) {
        if (scanf("%d%ld", &k, &n) < 2)
            break;
        if (k != last) {
            if (last != -2)
                printf("%d\t%ld\n", last, sum);
            last = k;
            sum = 0;
        }
        sum += n;
    }
    if (last != -2)
        printf("%d\t%ld\n", last, sum);
    return 0;
}
