/* PageRank, map: one step. Each edge carries an equal share of its origin's rank to the node it leads to. Ranks are whole
 * numbers of billionths, so sums do not depend on their order. */
#include <stdio.h>
#include <stdlib.h>

#define NO_EDGES (-1)
#define LEAST_RANK 150000000 /* of a node that no edge leads to; such nodes need not be in ranks.txt */

static long long *share; /* what each edge of a node carries; NO_EDGES for nodes that no edge leaves */
static long last;        /* the highest number of a node that an edge leaves */

static FILE *open_table(const char *path)
{
    FILE *table = fopen(path, "r");

    if (table == NULL) {
        perror(path);
        exit(1);
    }
    return table;
}

/* Takes the next pair of numbers; 0 at the end of the table. */
static int next_pair(FILE *table, const char *path, long *node, long long *number)
{
    int fields = fscanf(table, "%ld %lld", node, number);

    if (fields != EOF && (fields != 2 || *node < 0)) {
        fprintf(stderr, "%s: not lines of a node and a number\n", path);
        exit(1);
    }
    return fields == 2;
}

static void read_shares(const char *degree_path, const char *rank_path)
{
    FILE *degrees = open_table(degree_path), *ranks = open_table(rank_path);
    long long *degree, number;
    long node;

    while (next_pair(degrees, degree_path, &node, &number))
        if (node > last)
            last = node;
    rewind(degrees);
    degree = calloc(last + 1, sizeof *degree);
    share = malloc((last + 1) * sizeof *share);
    if (degree == NULL || share == NULL) {
        perror("pagerank");
        exit(1);
    }
    while (next_pair(degrees, degree_path, &node, &number))
        degree[node] = number;
    for (node = 0; node <= last; node++)
        share[node] = degree[node] > 0 ? LEAST_RANK / degree[node] : NO_EDGES;
    while (next_pair(ranks, rank_path, &node, &number))
        if (node <= last && degree[node] > 0)
            share[node] = number / degree[node];
    free(degree);
    fclose(degrees);
    fclose(ranks);
}

int main(void)
{
    char *line = NULL, *end;
    size_t size = 0;
    long from, to;
    long long carried;

    read_shares("degrees.txt", "ranks.txt");

#pragma mapreduce mapper key(to) value(carried) kvpairs(1) sharedRO(share, last)
    while (getline(&line, &size, stdin) != -1) {
        char *rest;

        if (line[0] == '#')
            continue; /* a comment, as in the edge lists of SNAP */
        from = strtol(line, &rest, 10);
        to = strtol(rest, &end, 10);
        if (rest == line || end == rest || to < 0) {
            fprintf(stderr, "pagerank: not an edge: %s", line);
            exit(1);
        }
        if (from < 0 || from > last || share[from] == NO_EDGES) {
            fprintf(stderr, "pagerank: degrees.txt does not have node %ld\n", from);
            exit(1);
        }
        carried = share[from];
        printf("%ld\t%lld\n", to, carried);
    }
    free(line);
    free(share);
    return 0;
}
