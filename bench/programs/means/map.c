/* The mean of numbers per key, map: a line `name;12.345` becomes `name TAB sum count`, here of the one number. */
#include <stdio.h>
#include <stdlib.h>

#define NAME_SIZE 101 /* bytes of the longest name, with its final '\0' */

static void refuse(const char *line)
{
    fprintf(stderr, "means: not a name, `;` and a number: %s", line);
    exit(1);
}

int main(void)
{
    char *line = NULL, *end, name[NAME_SIZE];
    size_t nbytes = 0;
    double number;

#pragma mapreduce mapper key(name) value(number) kvpairs(1)
    while (getline(&line, &nbytes, stdin) != -1) {
        int n = 0;

        while (n < NAME_SIZE - 1 && line[n] != ';' && (unsigned char)line[n] >= ' ') {
            name[n] = line[n];
            n++;
        }
        name[n] = '\0';
        if (n == 0 || line[n] != ';')
            refuse(line);
        number = strtod(line + n + 1, &end);
        if (end == line + n + 1 || (*end != '\n' && *end != '\0'))
            refuse(line);
        printf("%s\t%.17g 1\n", name, number);
    }
    free(line);
    return 0;
}
