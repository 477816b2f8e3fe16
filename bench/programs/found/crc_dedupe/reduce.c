#include <stdio.h>
#include <string.h>

int main(void)
{
    char line[300], last[300] = "", *word;
    int n = 0;

    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        word = strchr(line, '\t');
        if (!word)
            continue;
        *word++ = 0;
        if (strcmp(line, last)) {
            if (n)
                putchar('\n');
            strcpy(last, line);
            printf("%s\t%s", line, word);
        } else {
            printf(" %s", word);
        }
        n++;
    }
    if (n)
        putchar('\n');
    return 0;
}
