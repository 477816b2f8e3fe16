/* Logistic regression, combine: adds up the gradients, and the rows, of one map task. */
#include <stdio.h>
#include <string.h>

#define KEY_SIZE 8 /* bytes of the longest key, with its final '\0' */

int main(void)
{
    char key[KEY_SIZE], previous[KEY_SIZE];
    long long gradient, sum = 0; /* 64 bits hold the sums of 900 million rows: see map.c */

    previous[0] = '\0';

#pragma mapreduce combiner key(previous) value(sum) keyin(key) valuein(gradient) firstprivate(previous, sum)
    {
        while (scanf("%7s %lld", key, &gradient) == 2) {
            if (strcmp(key, previous) == 0) {
                sum += gradient;
            } else {
                if (previous[0] != '\0')
                    printf("%s\t%lld\n", previous, sum);
                strcpy(previous, key);
                sum = gradient;
            }
        }
        if (previous[0] != '\0')
            printf("%s\t%lld\n", previous, sum);
    }
    return 0;
}
