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

struct __attribute__((packed)) header { char tag; int length; short more; };
static void packed_structs(const char *line)
{
    struct header h;
    memset(&h, 0, sizeof h);
    h.tag = line[0];
    h.length = strlen(line);
    printf("packed_structs\t%d %d %zu\n", h.tag, h.length, sizeof h);
}

int main(void)
{
    char line[256];

#pragma mapreduce mapper key(line)
    while (fgets(line, sizeof line, stdin) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        packed_structs(line);
    }
    return 0;
}
