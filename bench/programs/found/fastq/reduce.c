#include <stdio.h>

int main(void)
{
    int key, last = -1;
    double v, sum = 0;
    long n = 0;

    while (scanf("%d %lf", &key, &v) == 2) {
        if (key != last) {
            if (n)
                printf("%d\t%.4f\n", last, sum / n);
            last = key;
            sum = n = 0;
        }
        sum += v;
        n++;
    }
    if (n)
        printf("%d\t%.4f\n", last, sum / n);
    return 0;
}
