/* Events per day (UTC) of Unix time stamps in the first column. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int main(void)
{
    char line[256], day[16];

#pragma mapreduce mapper key(day)
    while (fgets(line, sizeof line, stdin)) {
        time_t t = strtoll(line, NULL, 10);
        struct tm *tm = gmtime(&t);
        strftime(day, sizeof day, "%Y-%m-%d", tm);
        printf("%s\t1\n", day);
    }
    return 0;
}
