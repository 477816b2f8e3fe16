/* A form of C that keeps the whole program from being analysed. */
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/types.h>

static void nested_functions(const char *line) { int n = strlen(line); int inner(int x) { return x + n; } printf("nested_functions\t%d\n", inner(1)); }

int main(void)
{
    char line[256];

#pragma mapreduce mapper key(line)
    while (fgets(line, sizeof line, stdin) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        nested_functions(line);
    }
    return 0;
}
