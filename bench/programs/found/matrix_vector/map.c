/* Sparse matrix times vector: "row column value" lines, the vector in vector.txt. */
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    FILE *f = fopen("vector.txt", "r");
    double *x = NULL, v, a, product;
    int n = 0, cap = 0, i, j;
    char line[128];

    while (f && fscanf(f, "%lf", &v) == 1) {
        if (n == cap) {
            cap = cap ? 2 * cap : 16;
            x = realloc(x, cap * sizeof *x);
        }
        x[n++] = v;
    }
    if (f)
        fclose(f);

#pragma mapreduce mapper key(i) value(product)
    while (fgets(line, sizeof line, stdin)) {
        if (sscanf(line, "%d %d %lf", &i, &j, &a) == 3 && j >= 0 && j < n) {
            product = a * x[j];
            printf("%d\t%.17g\n", i, product);
        }
    }
    free(x);
    return 0;
}
