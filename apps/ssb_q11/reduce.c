/* Star Schema Benchmark, query 1.1, reduce: adds up the revenues of each group of all map tasks.
 * Runs on the CPU, so it needs no directive. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GROUP_SIZE 16 /* as in map.c */

int main(void)
{
    char *line = NULL, *tab, group[GROUP_SIZE];
    size_t nbytes = 0;
    long long revenue = 0;

    group[0] = '\0';
    while (getline(&line, &nbytes, stdin) != -1) {
        tab = strchr(line, '\t');
        if (tab == NULL || tab - line >= GROUP_SIZE) {
            fprintf(stderr, "ssb_q11: not a pair of this program: %s\n", line);
            return 1;
        }
        *tab = '\0';
        if (strcmp(line, group) != 0) {
            if (group[0] != '\0')
                printf("%s\t%lld\n", group, revenue);
            strcpy(group, line);
            revenue = 0;
        }
        revenue += atoll(tab + 1);
    }
    if (group[0] != '\0')
        printf("%s\t%lld\n", group, revenue);
    free(line);
    return 0;
}
