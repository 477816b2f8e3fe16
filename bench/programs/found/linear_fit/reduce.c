#include <stdio.h>

int main(void)
{
    char key[16];
    long n, sx, sy, sxx, sxy, N = 0, SX = 0, SY = 0, SXX = 0, SXY = 0;

    while (scanf("%15s %ld %ld %ld %ld %ld", key, &n, &sx, &sy, &sxx, &sxy) == 6) {
        N += n; SX += sx; SY += sy; SXX += sxx; SXY += sxy;
    }
    if (N > 1) {
        double b = (double)(N * SXY - SX * SY) / (N * SXX - SX * SX);
        printf("slope\t%g\nintercept\t%g\n", b, (SY - b * SX) / N);
    }
    return 0;
}
