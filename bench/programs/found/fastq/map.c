/* FASTQ, a read a line (name TAB bases TAB + TAB qualities): mean quality by GC content in tenths. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
    char *line = NULL;
    size_t cap = 0;

#pragma mapreduce mapper key(gc) value(mean)
    while (getline(&line, &cap, stdin) > 0) {
        char *bases, *plus, *qual, *save = NULL;
        int gc = 0, i, n;
        long sum = 0;
        double mean;

        if (strtok_r(line, "\t\n", &save) == NULL)
            continue;
        bases = strtok_r(NULL, "\t\n", &save);
        plus = strtok_r(NULL, "\t\n", &save);
        qual = strtok_r(NULL, "\t\n", &save);
        if (!bases || !plus || !qual || strlen(bases) != strlen(qual)) {
            fprintf(stderr, "reporter:counter:fastq,malformed,1\n");
            continue;
        }
        n = strlen(bases);
        for (i = 0; i < n; i++) {
            switch (bases[i]) {
            case 'G': case 'g':
            case 'C': case 'c':
                gc++;
            }
            sum += qual[i] - 33;
        }
        gc = 10 * gc / n;
        mean = (double)sum / n;
        printf("%d\t%.3f\n", gc, mean);
    }
    free(line);
    return 0;
}
