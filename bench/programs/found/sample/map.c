/* A reproducible sample of one user in four: the seed is made of the user's name. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
    char line[1024], user[64];

#pragma mapreduce mapper key(user) value(line)
    while (fgets(line, sizeof line, stdin)) {
        unsigned int seed = 17;
        char *p;
        size_t n = strcspn(line, "\t ");

        if (n == 0 || n >= sizeof user)
            continue;
        memcpy(user, line, n);
        user[n] = '\0';
        for (p = user; *p; p++)
            seed = seed * 31 + (unsigned char)*p;
        if (rand_r(&seed) < RAND_MAX / 4) {
            line[strcspn(line, "\n")] = '\0';
            printf("%s\t%s\n", user, line + n + 1);
        }
    }
    return 0;
}
