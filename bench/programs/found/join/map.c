/* Joins "C,id,name" with "O,order,customer,amount": customers first, by their tag. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
    char line[512];

#pragma mapreduce mapper key(id) keylength(32)
    while (fgets(line, sizeof line, stdin)) {
        char *id;
        line[strcspn(line, "\n")] = '\0';
        switch (line[0]) {
        case 'C': {
            strtok(line, ",");
            id = strtok(NULL, ",");
            char *name = strtok(NULL, ",");
            if (id && name)
                printf("%s\tA|%s\n", id, name);
            break;
        }
        case 'O': {
            strtok(line, ",");
            char *order = strtok(NULL, ",");
            id = strtok(NULL, ",");
            char *amount = strtok(NULL, ",");
            if (id && amount)
                printf("%s\tB|%s|%s\n", id, order, amount);
            break;
        }
        default:
            fprintf(stderr, "unknown line: %s\n", line);
        }
    }
    return 0;
}
