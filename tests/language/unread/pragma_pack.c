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

#pragma pack(push, 1)
struct wire { uint8_t kind; uint32_t size; };
#pragma pack(pop)
static void pragma_pack(const char *line)
{
    struct wire w = { (uint8_t)line[0], (uint32_t)strlen(line) };
    printf("pragma_pack\t%d %u %zu\n", w.kind, w.size, sizeof w);
}

int main(void)
{
    char line[256];

#pragma mapreduce mapper key(line)
    while (fgets(line, sizeof line, stdin) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        pragma_pack(line);
    }
    return 0;
}
