#include <stdio.h>

int main(void)
{
    char word[40], line[200];
    int one = 1;

#pragma mapreduce mapper key(word) value(one)
    do {
        if (fgets(line, sizeof line, stdin) == NULL)
            break;
        if (sscanf(line, "%39s", word) == 1)
            printf("%s\t%d\n", word, one);
    } while (1);
    return 0;
}
