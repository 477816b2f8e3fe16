#include <stdio.h>

int main(void)
{
    char word[40], line[200];
    int one = 1;

#pragma mapreduce mapper key(word) value(one)
    while (1) {
        if (!fgets(line, sizeof line, stdin))
            break;
        if (sscanf(line, "%39s", word) == 1)
            printf("%s\t%d\n", word, one);
    }
    return 0;
}
