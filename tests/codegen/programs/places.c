/* Values from before the loop in every memory of the GPU: parameters, tables, heap, each thread's own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 1500

struct config {
    int scale;
    double shift;
};

static int squares[N];
static double weights[8];
static float curve[4000];
static const char *const suffix[] = {"th", "st", "nd", "rd"};
static char *line;
static size_t room;
static int matrix[3][700];

static int look(int i)
{
    return squares[i % N] + matrix[i % 3][i % 700];
}

int main(void)
{
    int limit = 10, i, j, v, *heap;
    char key[32], scratch[16], *cursor = scratch, *buffer = malloc(64);
    struct config config = {2, 0.5};
    long offset;

    heap = malloc(100 * sizeof *heap);
    for (i = 0; i < 100; i++)
        heap[i] = i * 3;
    for (i = 0; i < N; i++)
        squares[i] = i * i;
    for (i = 0; i < 8; i++)
        weights[i] = 1.0 / (i + 1);
    for (i = 0; i < 4000; i++)
        curve[i] = i / 2.0f;
    for (i = 0; i < 3; i++)
        for (j = 0; j < 700; j++)
            matrix[i][j] = i - j;
    offset = strtol("17", NULL, 10);
    config.scale += limit;

#pragma mapreduce mapper key(key) value(v) keylength(32) texture(curve)
    while (getline(&line, &room, stdin) != -1) {
        v = atoi(line);
        i = v < 0 ? 0 : v;
        strcpy(cursor, suffix[i % 4]);
        snprintf(buffer, 64, "%d%s", i, scratch);
        snprintf(key, sizeof key, "%s", buffer);
        printf("%s\t%d %d %.3f %.1f\n", key, look(i), heap[i % 100], weights[i % 8], curve[i % 4000]);
        printf("config\t%d %.2f %ld %d\n", config.scale, config.shift * i, offset, i > limit);
    }
    return 0;
}
