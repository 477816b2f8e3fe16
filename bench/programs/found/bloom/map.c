/* Passes on the lines whose first field is (most likely) in a set, given as a Bloom filter: m and k, then m/8 bytes. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint8_t *bits;
static uint32_t m, k;

static uint32_t fnv(const char *s, size_t n, uint32_t seed)
{
    uint32_t h = 2166136261u ^ seed;
    for (size_t i = 0; i < n; i++) {
        h ^= (uint8_t)s[i];
        h *= 16777619u;
    }
    return h;
}

static int maybe(const char *s, size_t n)
{
    uint32_t i;
    for (i = 0; i < k; i++) {
        uint32_t b = fnv(s, n, i * 0x9e3779b9u) % m;
        if (!(bits[b >> 3] & (1 << (b & 7))))
            return 0;
    }
    return 1;
}

int main(void)
{
    char line[1024];
    FILE *f = fopen("bloom.txt", "r");

    if (!f || fscanf(f, "%u %u", &m, &k) != 2)
        return 1;
    bits = calloc(m / 8 + 1, 1);
    for (unsigned i = 0, v; i < m / 8 && fscanf(f, "%2x", &v) == 1; i++)
        bits[i] = v;
    fclose(f);

#pragma mapreduce mapper key(line)
    while (fgets(line, sizeof(line), stdin)) {
        size_t n = strcspn(line, ",\n");
        if (maybe(line, n)) {
            line[strcspn(line, "\n")] = 0;
            line[n] = 0;
            printf("%s\t%s\n", line, line + n + 1);
        }
    }
    free(bits);
    return 0;
}
