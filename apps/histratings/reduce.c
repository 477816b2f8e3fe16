/* Histogram of ratings, reduce: adds up the reviews with each rating of all map tasks. Runs on the CPU: no directive. */
#include <stdio.h>
#include <string.h>

#define RATING_SIZE 16 /* as in combine.c */

int main(void)
{
    char rating[RATING_SIZE], previous[RATING_SIZE];
    long long value, count = 0;

    previous[0] = '\0';
    while (scanf("%15s %lld", rating, &value) == 2) {
        if (strcmp(rating, previous) != 0) {
            if (previous[0] != '\0')
                printf("%s\t%lld\n", previous, count);
            strcpy(previous, rating);
            count = 0;
        }
        count += value;
    }
    if (previous[0] != '\0')
        printf("%s\t%lld\n", previous, count);
    return 0;
}
