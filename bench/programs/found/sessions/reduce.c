/* Visits of a user that lie less than 30 minutes apart are a session. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GAP 1800

static long *times;
static size_t n, cap;

static int by_time(const void *a, const void *b)
{
    long x = *(long *)a, y = *(long *)b;
    return x < y ? -1 : x > y;
}

static void finish(const char *user)
{
    size_t i, first = 0;

    if (n == 0)
        return;
    qsort(times, n, sizeof *times, by_time);
    for (i = 1; i <= n; i++)
        if (i == n || times[i] - times[i - 1] >= GAP) {
            printf("%s\t%ld %ld %zu\n", user, times[first], times[i - 1] - times[first], i - first);
            first = i;
        }
    n = 0;
}

int main(void)
{
    char line[1024], user[64], last[64] = "";
    long t;

    while (fgets(line, sizeof line, stdin)) {
        if (sscanf(line, "%63s %ld", user, &t) != 2)
            continue;
        if (strcmp(user, last)) {
            finish(last);
            strcpy(last, user);
        }
        if (n == cap)
            times = realloc(times, (cap = cap ? 2 * cap : 8) * sizeof *times);
        times[n++] = t;
    }
    finish(last);
    return 0;
}
