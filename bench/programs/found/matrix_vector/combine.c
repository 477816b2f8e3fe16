#include <stdio.h>

int main(void)
{
    int row, last = -1;
    double v, sum = 0;

#pragma mapreduce combiner key(last) value(sum) keyin(row) valuein(v)
    {
        while (scanf("%d %lf", &row, &v) == 2) {
            if (row != last) {
                if (last >= 0)
                    printf("%d\t%.17g\n", last, sum);
                last = row;
                sum = 0;
            }
            sum += v;
        }
        if (last >= 0)
            printf("%d\t%.17g\n", last, sum);
    }
    return 0;
}
