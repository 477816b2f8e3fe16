#include <stdio.h>
#include <string.h>

static int read_line(char *to, int most)
{
    size_t length;

    if (fgets(to, most, stdin) == NULL)
        return -1;
    length = strlen(to);
    if (length > 0 && to[length - 1] == '\n')
        to[--length] = '\0';
    return (int)length;
}

int main(void)
{
    char line[200];
    int n;
    int one = 1;

#pragma mapreduce mapper key(line) value(one)
    while ((n = read_line(line, sizeof line)) >= 0)
        if (n > 0)
            printf("%s\t%d\n", line, one);
    return 0;
}
