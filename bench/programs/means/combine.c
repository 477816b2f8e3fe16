/* The mean of numbers per key, combine: sum and count of each name of one map task, added up in the order of the input. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_SIZE 101 /* as in map.c */

int main(void)
{
    char *line = NULL, *at, name[NAME_SIZE];
    size_t nbytes = 0;
    double number, sum = 0;
    long n, count = 0;

    name[0] = '\0';

#pragma mapreduce combiner key(name) value(sum) keyin(line) valuein(number) \
        keylength(NAME_SIZE) firstprivate(name, sum, count)
    {
        while (getline(&line, &nbytes, stdin) != -1) {
            at = strchr(line, '\t');
            if (at == NULL || at - line >= NAME_SIZE) {
                fprintf(stderr, "means: not a pair of this program: %s\n", line);
                exit(1);
            }
            *at = '\0';
            number = strtod(at + 1, &at);
            n = strtol(at, &at, 10);
            if (strcmp(line, name) == 0) {
                sum += number;
                count += n;
            } else {
                if (name[0] != '\0')
                    printf("%s\t%.17g %ld\n", name, sum, count);
                strcpy(name, line);
                sum = number;
                count = n;
            }
        }
        if (name[0] != '\0')
            printf("%s\t%.17g %ld\n", name, sum, count);
    }
    free(line);
    return 0;
}
