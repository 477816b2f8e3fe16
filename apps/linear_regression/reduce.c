/* Linear regression, reduce: adds up the sums of all map tasks, in 128 bits. Runs on the CPU, so it needs no directive. */
#include <stdio.h>

#define DIGITS_SIZE 48 /* 128 bits are 39 digits */

static void print_sum(int key, __int128 sum)
{
    unsigned __int128 rest = sum < 0 ? -(unsigned __int128)sum : (unsigned __int128)sum;
    char digits[DIGITS_SIZE];
    int at = DIGITS_SIZE - 1;

    digits[at] = '\0';
    do {
        digits[--at] = (char)('0' + (int)(rest % 10));
        rest /= 10;
    } while (rest != 0);
    if (sum < 0)
        digits[--at] = '-';
    printf("%d\t%s\n", key, digits + at);
}

int main(void)
{
    int key, previous = 0, any = 0;
    long long value;
    __int128 sum = 0;

    while (scanf("%d %lld", &key, &value) == 2) {
        if (any && key != previous) {
            print_sum(previous, sum);
            sum = 0;
        }
        previous = key;
        sum += value;
        any = 1;
    }
    if (any)
        print_sum(previous, sum);
    return 0;
}
