/* A directed graph as an edge list: lines `from TAB to`, with few nodes that many edges lead to, as in a web of pages.
 *
 *     edges OUTPUT BYTES SEED NODES DEGREES RANKS THREADS
 *
 * Nodes are numbered from 1000000, so that a line has 16 bytes; the last one is filled up with blanks. Edges may occur
 * twice. DEGREES becomes the number of edges that leave each node that has any, RANKS the first ranks for apps/pagerank: every node
 * with the least rank that there can be. */
#include "generator.h"

enum { LINE = 16, FIRST = 1000000, MOST_NODES = 9000000, LEAST_RANK = 150000000 };
static const uint64_t ORIGIN_PRIME = 4294967291u, TARGET_PRIME = 2654435761u;

/* Nodes have an order of popularity as origins of edges and another one as targets; neighbours in an order are no
 * neighbours by number. For each place in an order: the node's number and the character behind it. */
static uint64_t nodes;
static char (*origins)[8], (*targets)[8];

/* Each thread counts the edges that leave the places for itself: adding atomically would take most of the time. */
static _Thread_local uint32_t *counts;
static uint32_t *all_counts[MOST_THREADS];
static atomic_int n_counts;

/* One to one, since `prime` is larger than any number of nodes. */
static uint64_t node_at(uint64_t place, uint64_t prime)
{
    return place * prime % nodes;
}

static void label_nodes(void)
{
    origins = allocate(nodes, sizeof *origins);
    targets = allocate(nodes, sizeof *targets);
    for (uint64_t place = 0; place < nodes; place++) {
        *put_number(origins[place], FIRST + node_at(place, ORIGIN_PRIME)) = '\t';
        *put_number(targets[place], FIRST + node_at(place, TARGET_PRIME)) = '\n';
    }
}

static void fill(char *buffer, uint64_t size, uint64_t piece)
{
    uint64_t state = sequence(piece);
    char *at = buffer;

    if (counts == NULL)
        all_counts[atomic_fetch_add(&n_counts, 1)] = counts = allocate(nodes, sizeof *counts);
    for (uint64_t edge = 0; edge < size / LINE; edge++) {
        uint64_t random = draw(&state), to = random >> 32, from = (uint32_t)random;

        to = (((to * to >> 32) * to >> 32) * nodes) >> 32;
        from = ((from * from >> 32) * nodes) >> 32;
        counts[from]++;
        memcpy(at, origins[from], 8);
        memcpy(at + 8, targets[to], 8);
        at += LINE;
    }
    if (size % LINE > 0) {
        memset(at - 1, ' ', size % LINE);
        buffer[size - 1] = '\n';
    }
}

/* The number of edges that leave each node, by the node's number less FIRST. */
static uint64_t *count_degrees(void)
{
    uint64_t *degrees = allocate(nodes, sizeof *degrees);

    for (uint64_t place = 0; place < nodes; place++)
        for (int i = 0; i < n_counts; i++)
            degrees[node_at(place, ORIGIN_PRIME)] += all_counts[i][place];
    return degrees;
}

/* Writes the degrees, or the first ranks where `degrees` is NULL. */
static void write_nodes(const char *path, const uint64_t *degrees)
{
    FILE *file = fopen(path, "w");

    if (file == NULL)
        die(path);
    for (uint64_t node = 0; node < nodes; node++)
        if (degrees == NULL || degrees[node] > 0)
            fprintf(file, "%lu\t%lu\n", FIRST + node, degrees != NULL ? degrees[node] : (uint64_t)LEAST_RANK);
    if (ferror(file) || fclose(file) != 0)
        die(path);
}

int main(int argc, char **argv)
{
    read_command_line(argc, argv, 7, "edges OUTPUT BYTES SEED NODES DEGREES RANKS THREADS");
    nodes = strtoull(argv[4], NULL, 10);
    if (nodes < 1 || nodes > MOST_NODES)
        refuse("1 to 9000000 nodes");
    if (total % PIECE > 0 && total % PIECE < LINE)
        refuse("the size must leave room for a line of 16 bytes in the last MiB");
    label_nodes();
    write_pieces(argv[1], atoi(argv[7]), fill);
    write_nodes(argv[5], count_degrees());
    write_nodes(argv[6], NULL);
    return 0;
}
