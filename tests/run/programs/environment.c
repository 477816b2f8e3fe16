/* getenv and a table before the loop; emission from a helper that gets a pointer into the record. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define ROWS 6
static const char *const names[] = {"zero", "one", "two", "many"};
static double weights[ROWS][4];
static void emit(const char *from, size_t length, int row)
{
    int column = length < 3 ? (int)length : 3;
    printf("%.*s/%s\t%.3f\n", (int)length, from, names[column], weights[row % ROWS][column]);
}
int main(void)
{
    char *line = NULL, *at, *end;
    const char *file = getenv("mapreduce_map_input_file");
    size_t cap = 0, base;
    int row;
    for (row = 0; row < ROWS; row++)
        for (int column = 0; column < 4; column++)
            weights[row][column] = row * 0.1 + column / 3.0;
    base = file != NULL && strchr(file, '/') != NULL;
#pragma mapreduce mapper key(at) value(row) keylength(64)
    while (getline(&line, &cap, stdin) != -1) {
        row = (int)base;
        at = line;
        while (*at != '\0' && *at != '\n') {
            end = at + strcspn(at, " ;\n");
            emit(at, end - at, row++);
            at = *end == '\n' || *end == '\0' ? end : end + 1;
        }
    }
    return 0;
}
