#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
    char *line = NULL, *prev = NULL;
    size_t cap = 0;

    while (getline(&line, &cap, stdin) != -1) {
        line[strcspn(line, "\t\n")] = '\0';
        if (prev == NULL || strcmp(prev, line) != 0) {
            puts(line);
            free(prev);
            prev = strdup(line);
        }
    }
    free(prev);
    free(line);
    return 0;
}
