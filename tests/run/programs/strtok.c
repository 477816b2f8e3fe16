/* strtok over the line, strtok_r in a helper, keys folded to lower case. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static void parts(char *word)
{
    char *save, *part;
    for (part = strtok_r(word, "-_", &save); part != NULL; part = strtok_r(NULL, "-_", &save))
        printf("part:%s\t1\n", part);
}
int main(void)
{
    char *line = NULL, *token, copy[40];
    size_t cap = 0;
    int i, length;
#pragma mapreduce mapper key(copy) value(length)
    while (getline(&line, &cap, stdin) != -1) {
        for (token = strtok(line, " \t\r\n,."); token != NULL; token = strtok(NULL, " \t\r\n,.")) {
            for (i = 0; token[i] != '\0' && i < 39; i++)
                copy[i] = tolower((unsigned char)token[i]);
            copy[i] = '\0';
            length = (int)strlen(token);
            printf("%s\t%d\n", copy, length);
            parts(copy);
        }
    }
    return 0;
}
