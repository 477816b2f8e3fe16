#include <stdio.h>

enum { OUT, IN };

int main(void)
{
    int c, state = OUT;
    long nl, nw, nc;

    nl = nw = nc = 0;
#pragma mapreduce mapper key(c) value(nc)
    while ((c = getchar()) != EOF) {
        ++nc;
        if (c == '\n')
            ++nl;
        if (c == ' ' || c == '\n' || c == '\t')
            state = OUT;
        else if (state == OUT) {
            state = IN;
            ++nw;
        }
    }
    printf("lines\t%ld\nwords\t%ld\nbytes\t%ld\n", nl, nw, nc);
    return 0;
}
