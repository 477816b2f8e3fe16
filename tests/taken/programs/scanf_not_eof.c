#include <stdio.h>

int main(void)
{
    char word[40];
    int one = 1;

#pragma mapreduce mapper key(word) value(one)
    while (scanf("%39s", word) != EOF)
        printf("%s\t%d\n", word, one);
    return 0;
}
