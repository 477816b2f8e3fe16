#include <ctype.h>
#include <stdio.h>

int main(void)
{
    char word[40], *p = word;
    int c;
    int one = 1;

#pragma mapreduce mapper key(word) value(one)
    while ((c = getchar()) != EOF) {
        if (isalnum(c)) {
            if (p < word + sizeof word - 1)
                *p++ = c;
        } else if (p != word) {
            *p = '\0';
            printf("%s\t%d\n", word, one);
            p = word;
        }
    }
    return 0;
}
