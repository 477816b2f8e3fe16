/* Temperatures of stations, map: a line `station;-12.3` becomes `station TAB minimum maximum sum count`, here of the one
 * measurement. Temperatures are in tenths of a degree, so that no sum depends on its order. */
#include <stdio.h>
#include <stdlib.h>

#define NAME_SIZE 101 /* bytes of the longest name, with its final '\0' */

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Reads `5.0` or `-12.3`, which a line ends with, as tenths. Returns 0 where it is something else. */
static int read_tenths(const char *at, int *tenths)
{
    int negative = *at == '-', value;

    at += negative;
    if (!is_digit(*at))
        return 0;
    value = *at++ - '0';
    if (is_digit(*at))
        value = value * 10 + (*at++ - '0');
    if (at[0] != '.' || !is_digit(at[1]) || (at[2] != '\n' && at[2] != '\0'))
        return 0;
    value = value * 10 + (at[1] - '0');
    *tenths = negative ? -value : value;
    return 1;
}

int main(void)
{
    char *line = NULL, station[NAME_SIZE];
    size_t nbytes = 0;
    int tenths;

#pragma mapreduce mapper key(station) value(tenths) kvpairs(1)
    while (getline(&line, &nbytes, stdin) != -1) {
        int n = 0;

        while (n < NAME_SIZE - 1 && line[n] != ';' && (unsigned char)line[n] >= ' ') {
            station[n] = line[n];
            n++;
        }
        station[n] = '\0';
        if (n == 0 || line[n] != ';' || !read_tenths(line + n + 1, &tenths)) {
            fprintf(stderr, "station_temperatures: not a name, `;` and a number like -12.3: %s", line);
            exit(1);
        }
        printf("%s\t%d %d %d 1\n", station, tenths, tenths, tenths);
    }
    free(line);
    return 0;
}
