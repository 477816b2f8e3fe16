#include <stdio.h>

int main(void)
{
    char word[40];
    int size;

#pragma mapreduce mapper key(word) value(size)
    while (scanf("%39s %d", word, &size) == 2)
        printf("%s\t%d\n", word, size);
    return 0;
}
