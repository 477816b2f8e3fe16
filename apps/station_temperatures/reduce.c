/* Temperatures of stations, reduce: minimum, mean and maximum of each station, in degrees. Needs no directive. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_SIZE 101 /* as in map.c */

static void print(const char *station, long min, long max, long sum, long count)
{
    printf("%s\t%.1f/%.1f/%.1f\n", station, min / 10.0, sum / 10.0 / count, max / 10.0);
}

int main(void)
{
    char *line = NULL, *at, station[NAME_SIZE];
    size_t nbytes = 0;
    long low, high, total, n, min = 0, max = 0, sum = 0, count = 0;

    station[0] = '\0';
    while (getline(&line, &nbytes, stdin) != -1) {
        at = strchr(line, '\t');
        if (at == NULL || at - line >= NAME_SIZE) {
            fprintf(stderr, "station_temperatures: not a pair of this program: %s\n", line);
            return 1;
        }
        *at = '\0';
        low = strtol(at + 1, &at, 10);
        high = strtol(at, &at, 10);
        total = strtol(at, &at, 10);
        n = strtol(at, &at, 10);
        if (strcmp(line, station) == 0) {
            if (low < min)
                min = low;
            if (high > max)
                max = high;
            sum += total;
            count += n;
        } else {
            if (station[0] != '\0')
                print(station, min, max, sum, count);
            strcpy(station, line);
            min = low;
            max = high;
            sum = total;
            count = n;
        }
    }
    if (station[0] != '\0')
        print(station, min, max, sum, count);
    free(line);
    return 0;
}
