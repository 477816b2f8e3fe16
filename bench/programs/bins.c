/* Lines in bins by their first byte, per map task: members of structs, each gathered in its own way, least and greatest
 * numbers, and memory of the heap. The bins are a block's own; with WIDE they lie in the device's memory, with COMPUTED what the
 * heap has does, too. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef WIDE
#define BINS 4096
#else
#define BINS 64
#endif

#ifdef COMPUTED
#define ENDS atoi("256") /* a size that the program computes */
#else
#define ENDS 256
#endif

struct bin {
    int lines;
    unsigned char kinds;
    double least, most;
    long bytes[2];
};

static struct { long lines, bytes; double longest; } all;

int main(void)
{
    static struct bin bins[BINS];
    char *line = NULL, key[16];
    size_t room = 0;
    long n, i, one = 1;
    int *ends = calloc(ENDS, sizeof *ends);

    if (ends == NULL)
        return 1;
    for (i = 0; i < BINS; i++)
        bins[i].least = 1e300;
#pragma mapreduce mapper key(key) value(one)
    while ((n = getline(&line, &room, stdin)) != -1) {
        unsigned at = (unsigned char)line[0] % BINS;
#ifdef WIDE
        at = (at * 31 + (unsigned)n * 7) % BINS;
#endif
        double value = atof(line);
        all.lines++;
        all.bytes += n;
        if (n > all.longest)
            all.longest = n;
        bins[at].lines++;
        bins[at].kinds |= 1 << (n & 7);
        if (value < bins[at].least)
            bins[at].least = value;
        if (bins[at].most <= n * 0.5)
            bins[at].most = n * 0.5;
        bins[at].bytes[n & 1] += n;
        ends[(unsigned char)line[n - 1]]++;
    }
    for (i = 0; i < BINS; i++)
        if (bins[i].lines)
            printf("%ld\t%d %d %g %g %ld %ld\n", i, bins[i].lines, bins[i].kinds, bins[i].least, bins[i].most, bins[i].bytes[0],
                   bins[i].bytes[1]);
    for (i = 0; i < 256; i++)
        if (ends[i])
            printf("end %ld\t%d\n", i, ends[i]);
    printf("all\t%ld %ld %g\n", all.lines, all.bytes, all.longest);
    free(ends);
    free(line);
    return 0;
}
