#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
    char line[4096], page[128] = "", links[4096] = "";
    double sum = 0;

    while (fgets(line, sizeof line, stdin)) {
        char *v = strchr(line, '\t');
        if (!v)
            continue;
        line[strcspn(line, "\n")] = 0;
        *v++ = 0;
        if (strcmp(page, line)) {
            if (page[0])
                printf("%s\t%.8f\t%s\n", page, 0.15 + 0.85 * sum, links);
            strcpy(page, line);
            links[0] = 0;
            sum = 0;
        }
        if (*v == 'L')
            strcpy(links, v + 1);
        else
            sum += atof(v);
    }
    if (page[0])
        printf("%s\t%.8f\t%s\n", page, 0.15 + 0.85 * sum, links);
    return 0;
}
