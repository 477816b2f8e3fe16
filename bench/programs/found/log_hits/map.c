/* Hits per client and per page, page views only. Usage: map [-m METHOD] [-x] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *skip[] = { ".gif", ".png", ".css", ".js", NULL };

static int wanted(const char *path)
{
    const char *dot = strrchr(path, '.');
    int i;

    if (dot == NULL)
        return 1;
    for (i = 0; skip[i] != NULL; i++)
        if (strcasecmp(dot, skip[i]) == 0)
            return 0;
    return 1;
}

int main(int argc, char **argv)
{
    char host[256], method[16], path[1024], line[4096];
    const char *only = "GET";
    int opt, all = 0;

    while ((opt = getopt(argc, argv, "m:x")) != -1) {
        switch (opt) {
        case 'm':
            only = optarg;
            break;
        case 'x':
            all = 1;
            break;
        default:
            fprintf(stderr, "usage: %s [-m method] [-x]\n", argv[0]);
            return 2;
        }
    }

#pragma mapreduce mapper key(path)
    while (fgets(line, sizeof line, stdin) != NULL) {
        if (sscanf(line, "%255s %*s %*s [%*[^]]] \"%15s %1023s", host, method, path) != 3)
            continue;
        if (strcmp(method, only) != 0 || !(all || wanted(path)))
            continue;
        printf("host:%s\t1\n", host);
        printf("page:%s\t1\n", path);
    }
    return 0;
}
