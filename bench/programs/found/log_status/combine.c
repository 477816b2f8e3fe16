#include <stdio.h>

int main(void)
{
    int status, current = -1;
    long bytes, sum = 0;

#pragma mapreduce combiner key(current) value(sum) keyin(status) valuein(bytes)
    {
        while (scanf("%d\t%ld", &status, &bytes) == 2) {
            if (status != current) {
                if (current != -1)
                    printf("%d\t%ld\n", current, sum);
                current = status;
                sum = 0;
            }
            sum += bytes;
        }
        if (current != -1)
            printf("%d\t%ld\n", current, sum);
    }
    return 0;
}
