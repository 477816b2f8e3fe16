/* Histogram of movies, reduce: adds up the movies in each bin of all map tasks. Runs on the CPU: no directive. */
#include <stdio.h>
#include <string.h>

#define BIN_SIZE 16 /* as in combine.c */

int main(void)
{
    char bin[BIN_SIZE], previous[BIN_SIZE];
    long long value, count = 0;

    previous[0] = '\0';
    while (scanf("%15s %lld", bin, &value) == 2) {
        if (strcmp(bin, previous) != 0) {
            if (previous[0] != '\0')
                printf("%s\t%lld\n", previous, count);
            strcpy(previous, bin);
            count = 0;
        }
        count += value;
    }
    if (previous[0] != '\0')
        printf("%s\t%lld\n", previous, count);
    return 0;
}
