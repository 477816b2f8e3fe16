#include <stdio.h>
#include <string.h>

static int read_line(char *to, int most)
{
    if (fgets(to, most, stdin)) {
        to[strcspn(to, "\n")] = '\0';
        return (int)strlen(to);
    }
    return EOF;
}

int main(void)
{
    char word[40], line[200];
    int one = 1;

#pragma mapreduce mapper key(word) value(one)
    for (;;) {
        int n = read_line(line, sizeof line);

        if (n == EOF)
            break;
        if (sscanf(line, "%39s", word) == 1)
            printf("%s\t%d\n", word, one);
    }
    return 0;
}
