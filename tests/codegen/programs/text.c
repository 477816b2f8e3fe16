/* The library: tokens, numbers with errno, sscanf, sprintf, and lines that several output calls make. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *trimmed(char *text)
{
    char *end = text + strlen(text);
    while (end > text && isspace((unsigned char)end[-1]))
        *--end = '\0';
    return text;
}

/* What printf prints of a string is what stands there when all its arguments are known. */
static int renamed(char *name, int n)
{
    strcpy(name, n % 2 ? "odd number" : "even");
    return n;
}

int main(void)
{
    char *line = NULL, *token, *rest, key[32], field[32], copy[400];
    size_t size = 0;
    int n, a, b, got;
    double d;
    long number;

#pragma mapreduce mapper key(key) value(n) keylength(32)
    while ((n = (int)getline(&line, &size, stdin)) != -1) {
        if (n >= 400)
            continue;
        strcpy(copy, trimmed(line));
        for (token = strtok(copy, " ,"); token != NULL; token = strtok(NULL, " ,")) {
            for (a = 0; token[a]; a++)
                token[a] = (char)tolower((unsigned char)token[a]);
            printf("token\t%s %zu\n", token, strlen(token));
        }
        errno = 0;
        number = strtol(line, &rest, 0);
        a = errno == ERANGE;
        printf("number\t%ld %d %d %d\n", number, a, (int)(rest - line), atoi(line));
        got = sscanf(line, "%d %31s %lf", &a, field, &d);
        if (got == 3)
            printf("fields\t%d %s %.3f\n", a, field, d);
        else
            printf("fields\t%d\n", got);
        b = sprintf(key, "%-5.3s|%04d", line, n);
        printf("key\t%s %d %d\n", key, b, snprintf(key, 4, "%d%s", n, "tail"));
        printf("cut\t%s\n", key);
        strcpy(field, "old");
        printf("late\t%s %d %s\n", field, renamed(field, n), field);
        fputs("parts\t", stdout);
        for (a = 0; a < 3 && line[a]; a++)
            b = putchar(line[a]);
        fwrite("<>", 1, 2, stdout);
        printf("%c%%", n % 26 + 'a');
        putchar('\n');
        fprintf(stderr, "reporter:counter:g,lines,%d\n", 1);
        printf("padded\t%5d|%-5d|%05d|%+d|%x|%#o|%8s|%-8s|%.2s|%c\n", n, n, n, n, n, n, "ab", "cd", line, '!');
        printf("real\t%.3f %e %g %10.2f %-10.1e|\n", n / 3.0, n * 1e10, n / 7.0, n * 1.5, (double)n);
        printf("sizes\t%hhd %hd %hhu %ld %lld %lu %lx\n", n * 100, n * 10000, n * 3, (long)n, (long long)n, 5ul, 255ul);
        rest = strchr(line, '=');
        if (rest) {
            *rest++ = '\0';
            printf("%s\t%s %d\n", line, rest, strcmp(line, rest) < 0);
        }
    }
    free(line);
    return 0;
}
