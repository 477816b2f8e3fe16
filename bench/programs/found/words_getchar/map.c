#include <ctype.h>
#include <stdio.h>

#define IN  1
#define OUT 0

int main()
{
    int c, state = OUT;

#pragma mapreduce mapper key(c)
    while ((c = getchar()) != EOF) {
        if (isalnum(c)) {
            putchar(tolower(c));
            state = IN;
        } else if (state == IN) {
            printf("\t1\n");
            state = OUT;
        }
    }
    if (state == IN)
        printf("\t1\n");
    return 0;
}
