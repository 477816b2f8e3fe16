/* Linear regression, combine: adds up the products of each two columns, and the rows, of one map task. */
#include <stdio.h>
#include <string.h>

#define KEY_SIZE 8 /* bytes of the longest key, with its final '\0' */

int main(void)
{
    char key[KEY_SIZE], previous[KEY_SIZE];
    long long product, sum = 0; /* 64 bits hold the sums of 900 million rows: see map.c */

    previous[0] = '\0';

#pragma mapreduce combiner key(previous) value(sum) keyin(key) valuein(product) firstprivate(previous, sum)
    {
        while (scanf("%7s %lld", key, &product) == 2) {
            if (strcmp(key, previous) == 0) {
                sum += product;
            } else {
                if (previous[0] != '\0')
                    printf("%s\t%lld\n", previous, sum);
                strcpy(previous, key);
                sum = product;
            }
        }
        if (previous[0] != '\0')
            printf("%s\t%lld\n", previous, sum);
    }
    return 0;
}
