/* Counts of SAM flags. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct flag {
    unsigned bit;
    const char *name;
};

static const struct flag flags[] = {
    { 0x1, "paired" }, { 0x2, "proper_pair" }, { 0x4, "unmapped" }, { 0x8, "mate_unmapped" },
    { 0x10, "reverse" }, { 0x100, "secondary" }, { 0x200, "qc_fail" }, { 0x400, "duplicate" }, { 0x800, "supplementary" },
};

#define NFLAGS (sizeof(flags) / sizeof(flags[0]))

int main(void)
{
    char buf[65536];

#pragma mapreduce mapper key(name) keylength(32)
    while (fgets(buf, sizeof(buf), stdin)) {
        char *name, *field;
        unsigned f;
        size_t i;

        if (buf[0] == '@')
            continue;
        strtok(buf, "\t");
        if ((field = strtok(NULL, "\t")) == NULL)
            continue;
        f = (unsigned)strtoul(field, NULL, 0);
        name = "reads";
        printf("%s\t%d\n", name, 1);
        for (i = 0; i < NFLAGS; i++) {
            if (f & flags[i].bit) {
                name = (char *)flags[i].name;
                printf("%s\t%d\n", name, 1);
            }
        }
    }
    return 0;
}
