#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
    char *line = 0;
    size_t cap = 0;
    ssize_t n;

#pragma mapreduce mapper key(line) keylength(1024)
    while ((n = getline(&line, &cap, stdin)) >= 0) {
        while (n > 0 && (line[n-1] == '\n' || line[n-1] == ' '))
            line[--n] = 0;
        if (n)
            puts(line);
    }
    return 0;
}
