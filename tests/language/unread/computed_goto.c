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

static void computed_goto(const char *line) { static void *t[] = { &&a, &&b }; goto *t[strlen(line) & 1]; a: printf("computed_goto\ta\n"); return; b: printf("computed_goto\tb\n"); }

int main(void)
{
    char line[256];

#pragma mapreduce mapper key(line)
    while (fgets(line, sizeof line, stdin) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        computed_goto(line);
    }
    return 0;
}
