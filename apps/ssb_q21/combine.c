/* Star Schema Benchmark, query 2.1, combine: adds up the revenues of each group of one map task. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GROUP_SIZE 32 /* as in map.c */

int main(void)
{
    char *line = NULL, *tab, group[GROUP_SIZE];
    size_t nbytes = 0;
    long long value, revenue = 0;

    group[0] = '\0';

#pragma mapreduce combiner key(group) value(revenue) keyin(line) valuein(value) \
        keylength(GROUP_SIZE) vallength(1) firstprivate(group, revenue)
    {
        while (getline(&line, &nbytes, stdin) != -1) {
            tab = strchr(line, '\t');
            if (tab == NULL || tab - line >= GROUP_SIZE) {
                fprintf(stderr, "ssb_q21: not a pair of this program: %s\n", line);
                exit(1);
            }
            *tab = '\0';
            value = atoll(tab + 1);
            if (strcmp(line, group) == 0) {
                revenue += value;
            } else {
                if (group[0] != '\0')
                    printf("%s\t%lld\n", group, revenue);
                strcpy(group, line);
                revenue = value;
            }
        }
        if (group[0] != '\0')
            printf("%s\t%lld\n", group, revenue);
    }
    free(line);
    return 0;
}
