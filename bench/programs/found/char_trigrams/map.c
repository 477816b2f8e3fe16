/* Letter trigrams for language guessing. */
#include <ctype.h>
#include <stdio.h>

int main(void)
{
    char buf[512];

#pragma mapreduce mapper key(t)
    while (fgets(buf, 512, stdin)) {
        char t[4] = { ' ', ' ', ' ', '\0' };
        for (char *p = buf; *p; ++p) {
            t[0] = t[1];
            t[1] = t[2];
            t[2] = isalpha((unsigned char)*p) ? tolower((unsigned char)*p) : '_';
            if (t[1] != '_' || t[2] != '_')
                printf("%s\t%d\n", t, 1);
        }
    }
    return 0;
}
