#include <stdio.h>
#include <string.h>

static char *read_line(char *to, int most, FILE *from)
{
    char *got = fgets(to, most, from);

    if (got) {
        char *end = strchr(to, '\n');

        if (end)
            *end = '\0';
    }
    return got;
}

int main(void)
{
    char word[40], line[200];
    int one = 1;

#pragma mapreduce mapper key(word) value(one)
    while (read_line(line, sizeof line, stdin) != NULL)
        if (sscanf(line, "%39s", word) == 1)
            printf("%s\t%d\n", word, one);
    return 0;
}
