#include <limits.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
    char year[16], last[16] = "";
    int t, max = INT_MIN;

#pragma mapreduce combiner key(last) value(max) keyin(year) valuein(t)
    {
        while (scanf("%15s %d", year, &t) == 2) {
            if (last[0] && strcmp(last, year) != 0) {
                printf("%s\t%d\n", last, max);
                max = INT_MIN;
            }
            strcpy(last, year);
            max = t > max ? t : max;
        }
        if (last[0])
            printf("%s\t%d\n", last, max);
    }
    return 0;
}
