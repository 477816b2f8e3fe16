/* getenv inside the loop: in a recursive helper, never reached, unset and printed as NULL, compared, its result dropped.
 * Key and value are the loop's own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int known(int depth)
{
    return depth > 0 ? known(depth - 1) : getenv("mapreduce_map_input_file") != NULL;
}
int main(void)
{
    char *line = NULL;
    size_t cap = 0;
#pragma mapreduce mapper key(word) value(value)
    while (getline(&line, &cap, stdin) != -1) {
        char word[24], *file = getenv("mapreduce_map_input_file");
        char *unset = getenv("hd_a_name_that_no_task_has");
        getenv("HOME");
        if (strlen(line) > 100000)
            puts(getenv("PATH"));
        strncpy(word, line, sizeof word - 1);
        word[sizeof word - 1] = '\0';
        word[strcspn(word, "\n\t")] = '\0';
        int value = known(3) + (unset == NULL) + (file == getenv("mapreduce_map_input_file"));
        value += strcmp(word, file != NULL ? file : "") < 0;
        printf("%s\t%d %s\n", word, value, unset);
        printf("%s\t%s\n", file ? file : "?", word);
    }
    return 0;
}
