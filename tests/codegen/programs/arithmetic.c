/* Two numbers a line; every operator on them in every type, where overflow, masks and conversions show. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static int wide(int a, int b)
{
    return a * b + a - b;
}

static void integers(long a, long b)
{
    int i = (int)a, j = (int)b, k;
    unsigned u = (unsigned)a, w = (unsigned)b;
    long long ll = a;

    printf("int\t%d %d %d %d %d %d\n", i + j, i - j, i * j, -i, ~i, wide(i, j));
    printf("bits\t%d %d %d %d\n", i & j, i | j, i ^ j, !i);
    printf("shift\t%d %d %u %u %ld %ld\n", i << (j & 63), i >> j, u << w, u >> 3, a << b, a >> b);
    printf("const\t%d %d %d %d %d\n", i << 4, i >> 4, i / 7, i % 7, i * -3);
    printf("order\t%d %d %d %d %d %d\n", i < j, i > j, i <= j, i >= j, i == j, (i != j) + 1);
    printf("unsigned\t%u %u %u %u %d\n", u + w, u - w, u * w, -u, u > w);
    printf("long\t%ld %ld %ld %ld %lld\n", a + b, a - b, a * b, -a, ll * 3);
    if (j != 0 && j != -1)
        printf("divide\t%d %d %u %u %ld\n", i / j, i % j, u / w, u % w, a / (b | 1 << 20));
    k = i > j ? i : j, k += 1;
    printf("mixed\t%ld %ld %lu\n", a + u, (long)(i + u), (unsigned long)i * w);
    printf("pick\t%d %d\n", k, (i < 0 ? -i : i) == abs(i));
}

static void narrow(long a, long b)
{
    signed char c = (signed char)a;
    unsigned char d = (unsigned char)b;
    short s = (short)a;
    unsigned short t = (unsigned short)b;
    bool flag = a, other = false;
    char x = 'a';
    int i = (int)a, old;

    c += d, d -= c, s *= t, t <<= 3, s >>= 1;
    printf("narrow\t%d %d %d %d\n", c, d, s, t);
    c++, --d, s--, ++t;
    printf("steps\t%d %d %d %d\n", c, d, s, t);
    printf("values\t%d %d\n", c++ + d--, s-- - ++t);
    i++;
    old = i++;
    printf("int steps\t%d %d\n", old, ++i);
    printf("int steps\t%d\n", i-- - old);
    i *= 5, i -= old, i /= 3, i %= 1000, i |= 1, i &= 0xff, i ^= 3, i <<= 2, i >>= 1;
    printf("compound\t%d\n", i);
    flag &= other;
    other |= a > b;
    flag += 1;
    printf("bool\t%d %d %d %d\n", flag, other, (bool)(a & 4), !flag);
    x += 2;
    x -= 'a' - 'A';
    printf("char\t%c %d %d\n", x, x == 'C', (unsigned char)(x * t) >> 2);
    printf("product\t%d %u\n", (unsigned short)a * (short)7, (unsigned)((unsigned short)b * 65535));
}

static void floating(long a, long b)
{
    double x = a, y = (double)b / 8, z = x;
    float f = (float)a / 3;
    int i;
    unsigned u = 7;
    long l = 9;

    printf("double\t%.6f %.6f %g %a\n", x + y, x * y, x - y, y);
    printf("to int\t%d %ld %d %d\n", (int)(x * 1000), (long)x, (short)y, (unsigned char)y);
    printf("to unsigned\t%u %lu\n", (unsigned)y, (unsigned long)(x < 0 ? -x : x));
    z /= 4;
    z += 1;
    i = 10;
    i += y;
    u *= 1.5;
    l -= f;
    printf("compound\t%.3f %d %u %ld\n", z, i, u, l);
    printf("float\t%.7g %.7g %d %d\n", f, f * f, f < y, (int)f);
    printf("compare\t%d %d\n", x == y, x != y || y > 0.5);
}

int main(void)
{
    char *line = NULL, *rest;
    size_t size = 0;
    int one;
    long a, b;

#pragma mapreduce mapper key(line) value(one) keylength(100)
    while (getline(&line, &size, stdin) != -1) {
        one = 1;
        a = strtol(line, &rest, 10);
        b = strtol(rest, NULL, 10);
        integers(a, b);
        narrow(a, b);
        floating(a, b);
    }
    free(line);
    return 0;
}
