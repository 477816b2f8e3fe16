#include <stdio.h>

int main(void)
{
    char word[40], line[200];
    int one = 1;

#pragma mapreduce mapper key(word) value(one)
    for (char *p; (p = fgets(line, sizeof line, stdin)); )
        if (sscanf(p, "%39s", word) == 1)
            printf("%s\t%d\n", word, one);
    return 0;
}
