#include <stdio.h>

static int get_line(char *to, int most)
{
    int c = 0, i;

    for (i = 0; i < most - 1 && (c = getchar()) != EOF && c != '\n'; ++i)
        to[i] = c;
    if (c == '\n') {
        to[i] = c;
        ++i;
    }
    to[i] = '\0';
    return i;
}

int main(void)
{
    char word[40], line[200];
    int n;
    int one = 1;

#pragma mapreduce mapper key(word) value(one)
    while ((n = get_line(line, sizeof line)) > 0)
        if (sscanf(line, "%39s", word) == 1)
            printf("%s\t%d\n", word, one);
    return 0;
}
