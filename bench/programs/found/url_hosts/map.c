/* Hosts of all links in a text. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
    char line[4096];
    char host[256];

#pragma mapreduce mapper key(host)
    while (fgets(line, sizeof(line), stdin)) {
        char *p = line;
        while ((p = strstr(p, "://")) != NULL) {
            int n = 0;
            char *at;
            p += 3;
            at = p + strcspn(p, "@/ \n");
            if (*at == '@')
                p = at + 1;
            while (n < 255 && (isalnum((unsigned char)p[n]) || p[n] == '.' || p[n] == '-')) {
                host[n] = tolower((unsigned char)p[n]);
                n++;
            }
            host[n] = 0;
            if (strncmp(host, "www.", 4) == 0)
                memmove(host, host + 4, strlen(host + 4) + 1);
            if (host[0])
                printf("%s\t%d\n", host, 1);
            p += n;
        }
    }
    return 0;
}
