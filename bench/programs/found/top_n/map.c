/* id: v v v v ... -> the three largest of each line */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int descending(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x < y) - (x > y);
}

int main(void)
{
    char *line = NULL, *p, *end;
    size_t cap = 0;
    int top = 3;

#pragma mapreduce mapper key(line) keylength(64)
    while (getline(&line, &cap, stdin) != -1) {
        int values[256], n = 0, i;
        p = strchr(line, ':');
        if (!p)
            continue;
        *p++ = '\0';
        while (n < 256) {
            long v = strtol(p, &end, 10);
            if (end == p)
                break;
            values[n++] = v;
            p = end;
        }
        qsort(values, n, sizeof values[0], descending);
        printf("%s\t", line);
        for (i = 0; i < n && i < top; i++)
            printf("%s%d", i ? "," : "", values[i]);
        printf("\n");
    }
    free(line);
    return 0;
}
