#include <stdio.h>

/* user time url  ->  user TAB time url */
int main(void)
{
    char user[64], url[512], line[1024];
    long when;

#pragma mapreduce mapper key(user) value(when)
    while (fgets(line, sizeof line, stdin) != NULL)
        if (sscanf(line, "%63s %ld %511s", user, &when, url) == 3)
            printf("%s\t%ld %s\n", user, when, url);
    return 0;
}
