/* ISO time stamps -> events per weekday and hour */
#include <stdio.h>

static const char *days[7] = { "Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat" };

static int weekday(int y, int m, int d)
{
    static const int t[] = { 0, 3, 2, 5, 0, 3, 5, 1, 4, 6, 2, 4 };
    if (m < 3)
        y -= 1;
    return (y + y / 4 - y / 100 + y / 400 + t[m - 1] + d) % 7;
}

int main(void)
{
    char line[512], key[32];
    int y, mo, d, h, mi;

#pragma mapreduce mapper key(key)
    while (fgets(line, sizeof line, stdin)) {
        if (sscanf(line, "%4d-%2d-%2dT%2d:%2d", &y, &mo, &d, &h, &mi) != 5)
            continue;
        if (mo < 1 || mo > 12 || h < 0 || h > 23)
            continue;
        snprintf(key, sizeof key, "%s %02d:00", days[weekday(y, mo, d)], h);
        printf("%s\t%d\n", key, 1);
    }
    return 0;
}
