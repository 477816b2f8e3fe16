/* grep, map: one pair (pattern, 1) per place where the pattern stands, as Hadoop's RegexMapper with a literal. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATTERN_SIZE 256 /* bytes of the longest pattern, with its final '\0' */

int main(void)
{
    char pattern[PATTERN_SIZE], *line = NULL, *at, *end;
    const char *setting = getenv("grep_pattern"); /* run with -D grep.pattern=TEXT */
    size_t nbytes = 0, length;
    ssize_t read;
    int one;

    /* A tab or a line end inside the pattern would make another pair of the output line. */
    if (setting == NULL || setting[0] == '\0' || strlen(setting) >= PATTERN_SIZE || strpbrk(setting, "\t\r\n") != NULL) {
        fprintf(stderr, "grep: -D grep.pattern=TEXT is needed: 1 to %d bytes without tab and line end\n", PATTERN_SIZE - 1);
        return 2;
    }
    strcpy(pattern, setting);
    length = strlen(pattern);

#pragma mapreduce mapper key(pattern) value(one) \
        keylength(PATTERN_SIZE) vallength(1) sharedRO(pattern, length)
    while ((read = getline(&line, &nbytes, stdin)) != -1) {
        one = 1;
        at = line;
        end = line + read;
        while (at < end) {
            char *found = strstr(at, pattern);

            if (found != NULL) {
                printf("%s\t%d\n", pattern, one);
                at = found + length; /* matches do not overlap */
            } else {
                at += strlen(at) + 1; /* a line may hold '\0': go on behind it */
            }
        }
    }
    free(line);
    return 0;
}
