/* Linear regression, reduce: adds up the sums of all map tasks, in 128 bits. Runs on the CPU, so it needs no directive. */
#include <stdio.h>
#include <string.h>

#define KEY_SIZE 8    /* as in combine.c */
#define DIGITS_SIZE 48 /* 128 bits are 39 digits */

static void print_sum(const char *key, __int128 sum)
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
    printf("%s\t%s\n", key, digits + at);
}

int main(void)
{
    char key[KEY_SIZE], previous[KEY_SIZE];
    long long value;
    __int128 sum = 0;

    previous[0] = '\0';
    while (scanf("%7s %lld", key, &value) == 2) {
        if (strcmp(key, previous) != 0) {
            if (previous[0] != '\0')
                print_sum(previous, sum);
            strcpy(previous, key);
            sum = 0;
        }
        sum += value;
    }
    if (previous[0] != '\0')
        print_sum(previous, sum);
    return 0;
}
