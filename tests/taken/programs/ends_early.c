#include <stdio.h>
#include <string.h>

int main(void)
{
    char word[40], line[200];
    int done = 0;
    int one = 1;

#pragma mapreduce mapper key(word) value(one)
    while (!done && fgets(line, sizeof line, stdin)) {
        done = strcmp(line, "end\n") == 0;
        if (sscanf(line, "%39s", word) == 1)
            printf("%s\t%d\n", word, one);
    }
    return 0;
}
