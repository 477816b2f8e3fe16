/* The type of a file that stands as Base64 in the second column, by its first bytes. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static int value(int c)
{
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    if (c == '+') return 62;
    if (c == '/') return 63;
    return -1;
}

static size_t decode(const char *in, uint8_t *out, size_t max)
{
    uint32_t acc = 0;
    int bits = 0, v;
    size_t n = 0;

    while (n < max && (v = value(*in++)) >= 0) {
        acc = acc << 6 | v;
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            out[n++] = acc >> bits & 0xff;
        }
    }
    return n;
}

struct magic {
    const char *type;
    uint8_t bytes[4];
    size_t n;
};

static const struct magic magics[] = {
    { .type = "png", .bytes = { 0x89, 'P', 'N', 'G' }, .n = 4 },
    { .type = "gif", .bytes = "GIF", .n = 3 },
    { .type = "pdf", .bytes = { '%', 'P', 'D', 'F' }, .n = 4 },
    { .type = "zip", .bytes = { 'P', 'K', 3, 4 }, .n = 4 },
};

int main(void)
{
    char name[64], data[8192];

#pragma mapreduce mapper key(type) keylength(8)
    while (scanf("%63s %8191s", name, data) == 2) {
        uint8_t head[8];
        const char *type = "unknown";
        size_t n = decode(data, head, sizeof head), i;
        for (i = 0; i < sizeof magics / sizeof *magics; i++)
            if (n >= magics[i].n && memcmp(head, magics[i].bytes, magics[i].n) == 0)
                type = magics[i].type;
        printf("%s\t%s\n", type, name);
    }
    return 0;
}
