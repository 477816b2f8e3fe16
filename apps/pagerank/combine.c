/* PageRank, combine: adds up what the edges of one map task carry to each node. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NODE_SIZE 24 /* bytes of the longest number, with its final '\0' */

int main(void)
{
    char *line = NULL, *tab, node[NODE_SIZE];
    size_t nbytes = 0;
    long long value, carried = 0;

    node[0] = '\0';

#pragma mapreduce combiner key(node) value(carried) keyin(line) valuein(value) \
        keylength(NODE_SIZE) vallength(1) firstprivate(node, carried)
    {
        while (getline(&line, &nbytes, stdin) != -1) {
            tab = strchr(line, '\t');
            if (tab == NULL || tab - line >= NODE_SIZE) {
                fprintf(stderr, "pagerank: not a pair of this program: %s\n", line);
                exit(1);
            }
            *tab = '\0';
            value = atoll(tab + 1);
            if (strcmp(line, node) == 0) {
                carried += value;
            } else {
                if (node[0] != '\0')
                    printf("%s\t%lld\n", node, carried);
                strcpy(node, line);
                carried = value;
            }
        }
        if (node[0] != '\0')
            printf("%s\t%lld\n", node, carried);
    }
    free(line);
    return 0;
}
