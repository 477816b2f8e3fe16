#include <stdio.h>

static char *next_line(void)
{
    static char *text;
    static size_t size;
    ssize_t n = getline(&text, &size, stdin);

    if (n == -1)
        return NULL;
    if (n > 0 && text[n - 1] == '\n')
        text[n - 1] = '\0';
    return text;
}

int main(void)
{
    char word[40], *line;
    int one = 1;

#pragma mapreduce mapper key(word) value(one)
    while ((line = next_line()) != NULL)
        if (sscanf(line, "%39s", word) == 1)
            printf("%s\t%d\n", word, one);
    return 0;
}
