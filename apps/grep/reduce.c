/* grep, reduce: adds up the matches of all map tasks. Runs on the CPU, so it needs no directive. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATTERN_SIZE 256 /* as in map.c */

int main(void)
{
    char *line = NULL, *tab, pattern[PATTERN_SIZE];
    size_t nbytes = 0;
    long long count = 0;

    pattern[0] = '\0';
    while (getline(&line, &nbytes, stdin) != -1) {
        tab = strchr(line, '\t');
        if (tab == NULL || tab - line >= PATTERN_SIZE) {
            fprintf(stderr, "grep: not a pair of this program: %s\n", line);
            return 1;
        }
        *tab = '\0';
        if (strcmp(line, pattern) != 0) {
            if (pattern[0] != '\0')
                printf("%s\t%lld\n", pattern, count);
            strcpy(pattern, line);
            count = 0;
        }
        count += atoll(tab + 1);
    }
    if (pattern[0] != '\0')
        printf("%s\t%lld\n", pattern, count);
    free(line);
    return 0;
}
