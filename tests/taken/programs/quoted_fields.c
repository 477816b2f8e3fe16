#include <stdio.h>

int main(void)
{
    char word[40];
    int c, n = 0, quoted = 0;
    int one = 1;

#pragma mapreduce mapper key(word) value(one)
    while ((c = getchar()) != EOF) {
        if (c == '"') {
            quoted = !quoted;
        } else if (!quoted && (c == ',' || c == '\n')) {
            word[n] = '\0';
            printf("%s\t%d\n", word, one);
            n = 0;
        } else if (n < 39) {
            word[n++] = c;
        }
    }
    return 0;
}
