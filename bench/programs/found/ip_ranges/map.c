/* The country of an address, from sorted ranges. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    uint32_t from, to;
    char country[3];
} range_t;

static range_t ranges[1000];
static int nranges;

static uint32_t ip_to_int(const char *s)
{
    unsigned a, b, c, d;
    if (sscanf(s, "%u.%u.%u.%u", &a, &b, &c, &d) != 4 || a > 255 || b > 255 || c > 255 || d > 255)
        return 0;
    return (a << 24) | (b << 16) | (c << 8) | d;
}

static const char *lookup(uint32_t ip)
{
    int lo = 0, hi = nranges - 1;
    while (lo <= hi) {
        int mid = (lo + hi) / 2;
        if (ip < ranges[mid].from)
            hi = mid - 1;
        else if (ip > ranges[mid].to)
            lo = mid + 1;
        else
            return ranges[mid].country;
    }
    return "??";
}

int main(void)
{
    char line[256], from[32], to[32];
    const char *country;
    FILE *f = fopen("ranges.txt", "r");

    if (f == NULL)
        return EXIT_FAILURE;
    while (nranges < 1000 && fgets(line, sizeof line, f)) {
        range_t *r = &ranges[nranges];
        if (sscanf(line, "%31s %31s %2s", from, to, r->country) == 3) {
            r->from = ip_to_int(from);
            r->to = ip_to_int(to);
            nranges++;
        }
    }
    fclose(f);

#pragma mapreduce mapper key(country) keylength(3)
    while (fgets(line, sizeof line, stdin)) {
        uint32_t ip = ip_to_int(line);
        if (ip == 0)
            continue;
        country = lookup(ip);
        printf("%s\t1\n", country);
    }
    return EXIT_SUCCESS;
}
