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

static void complex_numbers(const char *line) { double _Complex z = strlen(line) + 1.0i; printf("complex_numbers\t%g\n", __real__ (z * z)); }

int main(void)
{
    char line[256];

#pragma mapreduce mapper key(line)
    while (fgets(line, sizeof line, stdin) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        complex_numbers(line);
    }
    return 0;
}
