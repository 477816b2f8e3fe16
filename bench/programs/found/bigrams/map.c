#include <stdio.h>
#include <string.h>

#define N 2

int main(void)
{
    char line[4096], gram[512];
    char *words[1024];

#pragma mapreduce mapper key(gram)
    while (fgets(line, sizeof line, stdin)) {
        int count = 0, i, j;
        char *w;

        for (w = strtok(line, " \t\n"); w && count < 1024; w = strtok(NULL, " \t\n"))
            words[count++] = w;
        for (i = 0; i + N <= count; i++) {
            gram[0] = '\0';
            for (j = 0; j < N; j++) {
                if (j > 0)
                    strcat(gram, " ");
                strncat(gram, words[i + j], 200);
            }
            printf("%s\t1\n", gram);
        }
    }
    return 0;
}
