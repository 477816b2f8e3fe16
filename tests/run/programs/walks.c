/* Pointer walks, strchr with a NUL written there, in-place reversal, memchr, bit tricks, comma and ternary. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static char *reverse(char *from, char *to)
{
    char *start = from;
    while (from < --to) { char c = *from; *from++ = *to; *to = c; }
    return start;
}
static unsigned hash(const char *s) { unsigned h = 5381; while (*s) h = h * 33 ^ (unsigned char)*s++; return h; }
int main(void)
{
    char *line = NULL, *tab, *value, *p, *q;
    size_t cap = 0;
    ssize_t n;
    unsigned h;
    long long sum;
#pragma mapreduce mapper key(line) value(h) keylength(200)
    while ((n = getline(&line, &cap, stdin)) != -1) {
        if (memchr(line, 0, n) != NULL) { printf("nul\t%zd\n", n); continue; }
        if ((p = strpbrk(line, "\r\n")) != NULL) *p = 0;
        tab = strchr(line, ' ');
        value = tab ? (*tab = 0, tab + 1) : "";
        for (sum = 0, q = value; *q; q++) sum = (sum << 5) - sum + *q;
        h = hash(line);
        printf("%s\t%u %lld %s\n", line, h, sum, value);
        reverse(line, line + strlen(line));
        q = strrchr(line, 'a');
        printf("%s\t%08x %td %d\n", line, h ^ (h >> 7), q ? q - line : -1, strncmp(line, "ab", 2) < 0 ? -1 : 1);
    }
    return 0;
}
