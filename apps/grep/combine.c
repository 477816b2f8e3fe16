/* grep, combine: adds up the matches of one map task. A pattern may hold blanks, so pairs are cut at the tab. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATTERN_SIZE 256 /* as in map.c */

int main(void)
{
    char *line = NULL, *tab, pattern[PATTERN_SIZE];
    size_t nbytes = 0;
    long value, count = 0;

    pattern[0] = '\0';

#pragma mapreduce combiner key(pattern) value(count) keyin(line) valuein(value) \
        keylength(PATTERN_SIZE) vallength(1) firstprivate(pattern, count)
    {
        while (getline(&line, &nbytes, stdin) != -1) {
            tab = strchr(line, '\t');
            if (tab == NULL || tab - line >= PATTERN_SIZE) {
                fprintf(stderr, "grep: not a pair of this program: %s\n", line);
                exit(1);
            }
            *tab = '\0';
            value = atol(tab + 1);
            if (strcmp(line, pattern) == 0) {
                count += value;
            } else {
                if (pattern[0] != '\0')
                    printf("%s\t%ld\n", pattern, count);
                strcpy(pattern, line);
                count = value;
            }
        }
        if (pattern[0] != '\0')
            printf("%s\t%ld\n", pattern, count);
    }
    free(line);
    return 0;
}
