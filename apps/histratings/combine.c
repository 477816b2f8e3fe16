/* Histogram of ratings, combine: adds up the reviews with each rating of one map task. */
#include <stdio.h>

int main(void)
{
    int rating, previous = 0, any = 0;
    long value, count = 0;

#pragma mapreduce combiner key(previous) value(count) keyin(rating) valuein(value) firstprivate(previous, count, any)
    {
        while (scanf("%d %ld", &rating, &value) == 2) {
            if (any && rating == previous) {
                count += value;
            } else {
                if (any)
                    printf("%d\t%ld\n", previous, count);
                previous = rating;
                count = value;
                any = 1;
            }
        }
        if (any)
            printf("%d\t%ld\n", previous, count);
    }
    return 0;
}
