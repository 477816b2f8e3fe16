#include <stdio.h>
#include <string.h>

int main(void)
{
    char key[64], last[64] = "";
    double v, sum = 0, max = 0;
    int n = 0;

    while (scanf("%63s %lf", key, &v) == 2) {
        if (strcmp(key, last) != 0) {
            if (n > 0)
                printf("%-8s\t%10.2f %10.2f %10.2f\n", last, sum, sum / n, max);
            strcpy(last, key);
            sum = 0;
            max = 0;
            n = 0;
        }
        sum += v;
        if (v > max)
            max = v;
        n++;
    }
    if (n > 0)
        printf("%-8s\t%10.2f %10.2f %10.2f\n", last, sum, sum / n, max);
    return 0;
}
