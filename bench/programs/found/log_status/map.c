/* Apache access log: bytes sent for each status code. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
    char *line = NULL;
    size_t len = 0;
    ssize_t read;
    int status;
    long bytes;

#pragma mapreduce mapper key(status) value(bytes)
    while ((read = getline(&line, &len, stdin)) != -1) {
        char *q = strchr(line, '"');
        if (q == NULL)
            continue;
        q = strchr(q + 1, '"');
        if (q == NULL)
            continue;
        if (sscanf(q + 1, "%d %ld", &status, &bytes) != 2)
            continue;
        printf("%d\t%ld\n", status, bytes);
    }
    free(line);
    return 0;
}
