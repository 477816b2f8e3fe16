#include <stdio.h>

int main(void)
{
    char word[40], line[200];
    int header = 1;
    int one = 1;

#pragma mapreduce mapper key(word) value(one)
    while (fgets(line, sizeof line, stdin)) {
        if (header) {
            header = 0;
            continue;
        }
        if (sscanf(line, "%39s", word) == 1)
            printf("%s\t%d\n", word, one);
    }
    return 0;
}
