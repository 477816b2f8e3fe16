/* One pair by many calls, from helpers; counters on stderr. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static void quoted(const char *s, size_t n)
{
    putchar('\'');
    fwrite(s, 1, n, stdout);
    fputc('\'', stdout);
}
int main(void)
{
    char *line = NULL;
    size_t cap = 0;
    ssize_t n;
#pragma mapreduce mapper key(line) value(n) keylength(100)
    while ((n = getline(&line, &cap, stdin)) != -1) {
        if (line[0] == '#') {
            fprintf(stderr, "reporter:counter:lines,comments,%d\n", 1);
            continue;
        }
        if (n > 0 && line[n - 1] == '\n')
            n--;
        quoted(line, n);
        fputs("\t", stdout);
        printf("%zd", n);
        puts("");
        if (n == 3) {
            puts(line[0] == '\n' ? "three" : "three\tx");
            fputs("reporter:counter:lines,three,2\n", stderr);
        }
    }
    return 0;
}
