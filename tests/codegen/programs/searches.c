/* Loops that look for a place in a read-only table, in every form that looks ahead on a GPU, and some that must not. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#define SIZE 100

#define TEN(of, n) of(n), of(n + 1), of(n + 2), of(n + 3), of(n + 4), of(n + 5), of(n + 6), of(n + 7), of(n + 8), of(n + 9)
#define ALL(of) \
    {TEN(of, 0), TEN(of, 10), TEN(of, 20), TEN(of, 30), TEN(of, 40), TEN(of, 50), TEN(of, 60), TEN(of, 70), TEN(of, 80), TEN(of, 90)}
#define MIXED(n) ((n) * 37 % 101)
#define THIRD(n) ((n) / 3)
#define HALF(n) ((n) * 0.5)
#define BYTE(n) ((signed char)((n) * 7))

static const char letters[] = "0123456789 ABCDEFGHIJKLMNOPQRSTUVWXYZ -+*/ abcdefghijklmnopqrstuvwxyz";

static int differs(int element, int wanted)
{
    return element != wanted;
}

int main(void)
{
    static const int table[SIZE] = ALL(MIXED), others[SIZE] = ALL(THIRD), first[3] = {0, 41, SIZE};
    static const double reals[SIZE] = ALL(HALF);
    static const signed char bytes[SIZE] = ALL(BYTE);
    char *line = NULL;
    size_t nbytes = 0;
    int key, value;

#pragma mapreduce mapper key(key) value(value)
    while (getline(&line, &nbytes, stdin) != -1) {
        char *end;
        int x = (int)strtol(line, &end, 10), from = (int)strtol(end, &end, 10), i, c, hits = 0;
        long l;
        size_t s;
        unsigned u;

        key = 0;
        /* an empty body, with a bound that is looked up */
        for (c = 0; c < 2; c++) {
            for (i = first[c]; i < first[c + 1] && table[i] != x; i++)
                ;
            key = key * 131 + i;
        }
        /* a while loop; bounds of other types, the other way round, included */
        i = from < 0 ? 0 : from;
        while (i < SIZE && table[i] != x)
            i++;
        key = key * 131 + i;
        l = 3;
        while (SIZE - 1 >= l && others[l] < x)
            ++l;
        key = key * 131 + (int)l;
        for (s = 5; s < sizeof table / sizeof *table && differs(table[s], x); s += 1)
            ;
        key = key * 131 + (int)s;
        for (u = 0; u != SIZE && reals[u] * 2 < x; u++)
            ;
        key = key * 131 + (int)u;
        /* an if that leaves, one that does not, and one that changes the index */
        for (i = 0; i < SIZE; i++)
            if (table[i] == x || table[i] == from)
                break;
        key = key * 131 + i;
        for (i = 0; i < SIZE; i++)
            if (bytes[i] > x)
                hits++;
        for (int j = 0; j < SIZE; j++)
            if (others[j] == (x & 31)) {
                hits += j;
                j += 2;
            }
        key = key * 131 + hits;
        /* tests that are numbers, not truths */
        for (i = 1; i < SIZE && table[i]; i++)
            ;
        key = key * 131 + i;
        for (i = 2; i < SIZE - 2 && reals[i]; i++)
            ;
        key = key * 131 + i;
        for (i = 0; i < SIZE && bytes[i] + 0; i++)
            ;
        key = key * 131 + i;
        /* no bound but what is sure to be found; and a test that comes before the bound */
        for (i = 0; table[i] != 37; i++)
            ;
        key = key * 131 + i;
        for (i = 0; table[i] != x % 101 && i < SIZE - 1; i++)
            ;
        key = key * 131 + i;
        /* a table in the program's text, with a function of the library */
        for (i = x < 0 || x > 60 ? 0 : x; letters[i] != '\0' && !isalpha((unsigned char)letters[i]); i++)
            ;
        value = i;
        /* not ahead: two tables, a neighbour, a step that is not one, an index that is cut */
        for (i = 0; i < SIZE && table[i] != x && others[i] < 20; i++)
            ;
        value = value * 131 + i;
        for (i = 0; i < SIZE - 1 && table[i + 1] != x; i++)
            ;
        value = value * 131 + i;
        for (i = 0; i < SIZE && others[i] != x; i += 3)
            ;
        value = value * 131 + i;
        for (i = 0; i < 300 && others[(unsigned char)i % SIZE] != x; i++)
            ;
        value = value * 131 + i;
        printf("%d\t%d\n", key, value);
    }
    free(line);
    return 0;
}
