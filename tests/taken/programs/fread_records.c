#include <stdio.h>

int main(void)
{
    char record[16];
    int one = 1;

#pragma mapreduce mapper key(record) value(one) keylength(16)
    while (fread(record, sizeof record, 1, stdin) == 1)
        printf("%.8s\t%d\n", record, one);
    return 0;
}
