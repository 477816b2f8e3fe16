/* Structs by value and by pointer, enums, unions, switch, a table of two dimensions, do-while. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
enum kind { BLANK, DIGIT, LETTER, OTHER };
typedef struct { enum kind kind; unsigned count; char first, last; } run_t;
union bits { float f; uint32_t u; unsigned char bytes[4]; };
static enum kind kind_of(int c)
{
    switch (c) {
    case ' ': case '\t': return BLANK;
    case '0': case '1': case '2': case '3': case '4': case '5': case '6': case '7': case '8': case '9': return DIGIT;
    default:
        if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) return LETTER;
    }
    return OTHER;
}
static run_t extend(run_t run, char c) { run.count++; run.last = c; return run; }
static void clear(run_t *run) { memset(run, 0, sizeof *run); run->kind = OTHER; }
int main(void)
{
    char *line = NULL, key[16];
    size_t cap = 0;
    ssize_t n, i;
    int moves[4][4];
    run_t run;
    union bits bits;
#pragma mapreduce mapper key(key) value(n)
    while ((n = getline(&line, &cap, stdin)) != -1) {
        memset(moves, 0, sizeof moves);
        clear(&run);
        i = 0;
        do {
            enum kind now = kind_of(line[i]);
            moves[run.kind][now]++;
            if (now != run.kind) {
                if (run.count)
                    printf("run%d\t%u %d %d\n", run.kind, run.count, run.first, run.last);
                run = (run_t){now, 0, line[i], 0};
            }
            run = extend(run, line[i]);
        } while (++i < n);
        for (int a = 0; a < 4; a++)
            for (int b = 0; b < 4; b++)
                if (moves[a][b]) {
                    snprintf(key, sizeof key, "move%d%d", a, b);
                    printf("%s\t%d\n", key, moves[a][b]);
                }
        bits.f = (float)n / 3;
        printf("bits\t%08x %u\n", bits.u, bits.bytes[3]);
    }
    return 0;
}
