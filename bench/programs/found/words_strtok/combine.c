#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
    char word[4096], current[4096] = "";
    int count, total = 0;

#pragma mapreduce combiner key(current) value(total) keyin(word) valuein(count)
    {
        while (scanf("%s\t%d", word, &count) == 2) {
            if (strcmp(word, current) == 0) {
                total += count;
            } else {
                if (current[0] != '\0')
                    printf("%s\t%d\n", current, total);
                strcpy(current, word);
                total = count;
            }
        }
        if (current[0] != '\0')
            printf("%s\t%d\n", current, total);
    }
    return 0;
}
