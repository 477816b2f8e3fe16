#include <stdio.h>

int main(void)
{
    char word[40], line[200], *p = fgets(line, sizeof line, stdin);
    int one = 1;

#pragma mapreduce mapper key(word) value(one)
    while (p != NULL) {
        if (sscanf(line, "%39s", word) == 1)
            printf("%s\t%d\n", word, one);
        p = fgets(line, sizeof line, stdin);
    }
    return 0;
}
