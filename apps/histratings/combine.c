/* Histogram of ratings, combine: adds up the reviews with each rating of one map task. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RATING_SIZE 16 /* bytes of the longest rating, with its final '\0' */

int main(void)
{
    char rating[RATING_SIZE], previous[RATING_SIZE];
    long value, count = 0;

    previous[0] = '\0';

#pragma mapreduce combiner key(previous) value(count) keyin(rating) valuein(value) firstprivate(previous, count)
    {
        while (scanf("%15s %ld", rating, &value) == 2) {
            if (strcmp(rating, previous) == 0) {
                count += value;
            } else {
                if (previous[0] != '\0')
                    printf("%s\t%ld\n", previous, count);
                strcpy(previous, rating);
                count = value;
            }
        }
        if (previous[0] != '\0')
            printf("%s\t%ld\n", previous, count);
    }
    return 0;
}
