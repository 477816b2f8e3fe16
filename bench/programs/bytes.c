/* How often each byte and each pair of neighbours occurs, per map task: what records gather stays on the device, and the
 * code behind the loop prints it. 2 KiB of counts are a block's own; with PAIRS 512 KiB more lie in the device's memory. */
#include <stdio.h>
#include <stdlib.h>

#ifdef PAIRS
static long pairs[256][256];
#endif

int main(void)
{
    char *line = NULL, key[16];
    size_t room = 0;
    long n, i, bytes[256] = {0}, lines = 0, longest = 0, one = 1;

#pragma mapreduce mapper key(key) value(one)
    while ((n = getline(&line, &room, stdin)) != -1) {
        lines++;
        if (n > longest)
            longest = n;
        for (i = 0; i < n; i++)
            bytes[(unsigned char)line[i]]++;
#ifdef PAIRS
        for (i = 1; i < n; i++)
            pairs[(unsigned char)line[i - 1]][(unsigned char)line[i]]++;
#endif
    }
    for (i = 0; i < 256; i++)
        if (bytes[i])
            printf("%ld\t%ld\n", i, bytes[i]);
#ifdef PAIRS
    for (i = 0; i < 65536; i++)
        if (pairs[i / 256][i % 256])
            printf("%ld-%ld\t%ld\n", i / 256, i % 256, pairs[i / 256][i % 256]);
#endif
    printf("lines\t%ld\nlongest\t%ld\n", lines, longest);
    free(line);
    return 0;
}
