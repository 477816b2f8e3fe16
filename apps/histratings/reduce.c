/* Histogram of ratings, reduce: adds up the reviews with each rating of all map tasks. Runs on the CPU: no directive. */
#include <stdio.h>

int main(void)
{
    int rating, previous = 0, any = 0;
    long long value, count = 0;

    while (scanf("%d %lld", &rating, &value) == 2) {
        if (any && rating != previous) {
            printf("%d\t%lld\n", previous, count);
            count = 0;
        }
        previous = rating;
        count += value;
        any = 1;
    }
    if (any)
        printf("%d\t%lld\n", previous, count);
    return 0;
}
