/* "person friend friend ..." -> every pair of friends, smaller name first, with the person who knows both */
#include <stdio.h>
#include <string.h>

int main(void)
{
    char line[2048];
    char *names[100];

#pragma mapreduce mapper key(pair) value(line)
    while (fgets(line, sizeof line, stdin)) {
        int n = 0, i, j;
        char pair[130];
        char *p = strtok(line, " \n");
        if (p == NULL) continue;
        while ((p = strtok(NULL, " \n")) != NULL && n < 100)
            names[n++] = p;
        for (i = 0; i < n - 1; i++)
            for (j = i + 1; j < n; j++) {
                if (strcmp(names[i], names[j]) < 0)
                    sprintf(pair, "%s,%s", names[i], names[j]);
                else
                    sprintf(pair, "%s,%s", names[j], names[i]);
                printf("%s\t%s\n", pair, line);
            }
    }
    return 0;
}
