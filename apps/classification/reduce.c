/* classification, reduce: nothing is left to do, each pair is a result. Runs on the CPU, so it needs no directive. */
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    char *line = NULL;
    size_t nbytes = 0;

    while (getline(&line, &nbytes, stdin) != -1)
        fputs(line, stdout);
    free(line);
    return 0;
}
