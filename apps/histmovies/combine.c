/* Histogram of movies, combine: adds up the movies in each bin of one map task. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BIN_SIZE 16 /* bytes of the longest bin, with its final '\0' */

int main(void)
{
    char bin[BIN_SIZE], previous[BIN_SIZE];
    long value, count = 0;

    previous[0] = '\0';

#pragma mapreduce combiner key(previous) value(count) keyin(bin) valuein(value) firstprivate(previous, count)
    {
        while (scanf("%15s %ld", bin, &value) == 2) {
            if (strcmp(bin, previous) == 0) {
                count += value;
            } else {
                if (previous[0] != '\0')
                    printf("%s\t%ld\n", previous, count);
                strcpy(previous, bin);
                count = value;
            }
        }
        if (previous[0] != '\0')
            printf("%s\t%ld\n", previous, count);
    }
    return 0;
}
