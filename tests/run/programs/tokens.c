/* A token loop with scanf. */
#include <stdio.h>
int main(void)
{
    char word[12];
    int one = 1;
#pragma mapreduce mapper key(word) value(one) keylength(12)
    while (scanf("%11s", word) == 1)
        printf("%s\t%d\n", word, one);
    return 0;
}
