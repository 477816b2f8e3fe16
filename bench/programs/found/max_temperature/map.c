/* NCDC records: year in columns 16 to 19, air temperature in 88 to 92, its quality in 93. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
    char *line = NULL;
    size_t size = 0;
    char year[5], temp[6];
    int t;

#pragma mapreduce mapper key(year) value(t)
    while (getline(&line, &size, stdin) != -1) {
        strncpy(year, line + 15, 4);
        year[4] = '\0';
        strncpy(temp, line + 87, 5);
        temp[5] = '\0';
        t = atoi(temp);
        if (t != 9999 && strchr("01459", line[92]))
            printf("%s\t%d\n", year, t);
    }
    free(line);
    return 0;
}
