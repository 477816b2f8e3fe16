/* PageRank, reduce: the new rank of each node, 0.15 + 0.85 times what all its edges carry. The output is the next ranks.txt.
 * Runs on the CPU, so it needs no directive. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_RANK 150000000 /* as in map.c */
#define NODE_SIZE 24 /* bytes of the longest number, with its final '\0' */

int main(void)
{
    char *line = NULL, *tab, node[NODE_SIZE];
    size_t nbytes = 0;
    long long carried = 0;

    node[0] = '\0';
    while (getline(&line, &nbytes, stdin) != -1) {
        tab = strchr(line, '\t');
        if (tab == NULL || tab - line >= NODE_SIZE) {
            fprintf(stderr, "pagerank: not a pair of this program: %s\n", line);
            return 1;
        }
        *tab = '\0';
        if (strcmp(line, node) != 0) {
            if (node[0] != '\0')
                printf("%s\t%lld\n", node, LEAST_RANK + carried * 85 / 100);
            strcpy(node, line);
            carried = 0;
        }
        carried += atoll(tab + 1);
    }
    if (node[0] != '\0')
        printf("%s\t%lld\n", node, LEAST_RANK + carried * 85 / 100);
    free(line);
    return 0;
}
