#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
    char line[1024], last[1024] = { 0 };
    long total = 0;
    int have = 0;

    while (fgets(line, sizeof line, stdin)) {
        char *tab = strchr(line, '\t');
        if (!tab)
            continue;
        *tab = 0;
        if (have && strcmp(last, line)) {
            printf("%s\t%ld\n", last, total);
            total = 0;
        }
        strcpy(last, line);
        have = 1;
        total += strtol(tab + 1, NULL, 10);
    }
    if (have)
        printf("%s\t%ld\n", last, total);
    return 0;
}
