/* What a thread cannot decide by itself: the first letter of a line chooses it. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

static int nested(int n)
{
    return n == 0 ? 0 : nested(n - 1) + 1;
}

int main(void)
{
    char *line = NULL;
    size_t size = 0;
    int n, *none = NULL;
    double zero;

#pragma mapreduce mapper key(line) value(n) keylength(100)
    while ((n = (int)getline(&line, &size, stdin)) != -1) {
        zero = n - n;
        switch (line[0]) {
        case 'd':
            printf("%d\n", 5 / (n - n));
            break;
        case 'm':
            n = -2147483647 - 1;
            n %= atoi(line + 1);
            printf("%d\n", n);
            break;
        case 'e':
            exit(3);
        case 'a':
            assert(none != NULL);
            break;
        case 'n':
            printf("%f\n", zero / zero);
            break;
        case 'r':
            printf("%d\n", nested(atoi(line + 1)));
            break;
        case 'u':
            printf("no end");
            break;
        default:
            printf("%s", line);
        }
    }
    free(line);
    return 0;
}
