/* order,date,region,product,units,price -> revenue per region */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
    char line[1024];
    char *field[16];
    char *region;
    double revenue;

#pragma mapreduce mapper key(region) value(revenue) keylength(64)
    while (fgets(line, sizeof(line), stdin) != NULL) {
        int n = 0;
        char *p = strtok(line, ",\n");
        while (p != NULL && n < 16) {
            field[n++] = p;
            p = strtok(NULL, ",\n");
        }
        if (n < 6 || strcmp(field[0], "order") == 0)
            continue;
        region = field[2];
        revenue = atoi(field[4]) * atof(field[5]);
        printf("%s\t%.2f\n", region, revenue);
    }
    return 0;
}
