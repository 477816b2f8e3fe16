/* Linear regression, combine: adds up the products of each two columns, and the rows, of one map task. */
#include <stdio.h>

int main(void)
{
    int key, previous = 0, any = 0;
    long long product, sum = 0; /* 64 bits hold the sums of 900 million rows: see map.c */

#pragma mapreduce combiner key(previous) value(sum) keyin(key) valuein(product) firstprivate(previous, sum, any)
    {
        while (scanf("%d %lld", &key, &product) == 2) {
            if (any && key == previous) {
                sum += product;
            } else {
                if (any)
                    printf("%d\t%lld\n", previous, sum);
                previous = key;
                sum = product;
                any = 1;
            }
        }
        if (any)
            printf("%d\t%lld\n", previous, sum);
    }
    return 0;
}
