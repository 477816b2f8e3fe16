#include <stdio.h>

int main(void)
{
    char word[40], *line = NULL;
    size_t size = 0;
    ssize_t n;
    int one = 1;

#pragma mapreduce mapper key(word) value(one)
    for (;;) {
        n = getline(&line, &size, stdin);
        if (n < 0)
            break;
        if (sscanf(line, "%39s", word) == 1)
            printf("%s\t%d\n", word, one);
    }
    return 0;
}
