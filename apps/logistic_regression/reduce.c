/* Logistic regression, reduce: adds the mean gradient of all rows to each weight. The output is the next weights.txt. The
 * counter logistic_regression:change says how far the weights have moved, all together. Runs on the CPU, so it needs no
 * directive. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY_SIZE 8  /* as in combine.c */
#define FEATURES 10 /* as in map.c */
#define ROWS (-1)   /* as in map.c */

static long long weight[FEATURES + 1], rows;

static void read_weights(const char *path)
{
    FILE *file = fopen(path, "r");
    long long number;
    int key;

    if (file == NULL) {
        perror(path);
        exit(1);
    }
    while (fscanf(file, "%d %lld", &key, &number) == 2) {
        if (key == ROWS)
            rows = number;
        else if (key >= 0 && key <= FEATURES)
            weight[key] = number;
    }
    fclose(file);
    if (rows <= 0) {
        fprintf(stderr, "%s: no line '%d TAB number of rows'\n", path, ROWS);
        exit(1);
    }
}

static void print_result(int key, long long sum)
{
    long long step = sum / rows;

    if (key == ROWS) {
        printf("%d\t%lld\n", key, sum);
        return;
    }
    if (key < 0 || key > FEATURES) {
        fprintf(stderr, "logistic_regression: not a key of this program: %d\n", key);
        exit(1);
    }
    printf("%d\t%lld\n", key, weight[key] + step);
    fprintf(stderr, "reporter:counter:logistic_regression,change,%lld\n", llabs(step));
}

int main(void)
{
    char key[KEY_SIZE], previous[KEY_SIZE];
    long long gradient, sum = 0;

    read_weights("weights.txt");
    previous[0] = '\0';
    while (scanf("%7s %lld", key, &gradient) == 2) {
        if (strcmp(key, previous) != 0) {
            if (previous[0] != '\0')
                print_result(atoi(previous), sum);
            strcpy(previous, key);
            sum = 0;
        }
        sum += gradient;
    }
    if (previous[0] != '\0')
        print_result(atoi(previous), sum);
    return 0;
}
