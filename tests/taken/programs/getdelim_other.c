#include <stdio.h>

int main(void)
{
    char word[40], *text = NULL;
    size_t size = 0;
    int one = 1;

#pragma mapreduce mapper key(word) value(one)
    while (getdelim(&text, &size, ' ', stdin) > 0)
        if (sscanf(text, "%39s", word) == 1)
            printf("%s\t%d\n", word, one);
    return 0;
}
