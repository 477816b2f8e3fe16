/* Splits CSV with quoted fields properly; column 3 is the key, column 5 the number. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAXF 32

static int split_csv(char *s, char *out[], int max)
{
    int n = 0;

    while (n < max) {
        char *to;
        if (*s == '"') {
            out[n++] = to = ++s;
            while (*s) {
                if (*s == '"') {
                    if (s[1] != '"')
                        break;
                    s++;
                }
                *to++ = *s++;
            }
            if (*s)
                s++;
            while (*s && *s != ',')
                s++;
        } else {
            out[n++] = to = s;
            while (*s && *s != ',')
                s++;
            to = s;
        }
        if (*s != ',') {
            *to = '\0';
            break;
        }
        s++;
        *to = '\0';
    }
    return n;
}

int main(void)
{
    char *line = NULL, *f[MAXF];
    size_t size = 0;
    ssize_t n;

#pragma mapreduce mapper key(key) keylength(128)
    while ((n = getline(&line, &size, stdin)) != -1) {
        if (n && line[n - 1] == '\n')
            line[--n] = 0;
        int fields = split_csv(line, f, MAXF);
        if (fields < 5)
            continue;
        char *key = f[2];
        printf("%s\t%ld\n", key, strtol(f[4], NULL, 10));
    }
    free(line);
    return 0;
}
