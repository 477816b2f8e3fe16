/* Adds up the values of equal keys; keys of any length, without NUL. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
  char *line = NULL, *key = NULL, *tab; size_t cap = 0; long long sum = 0;
  while (getline(&line, &cap, stdin) != -1) {
    if ((tab = strchr(line, '\t')) == NULL) return 1;
    *tab = 0;
    if (key == NULL || strcmp(key, line) != 0) {
      if (key != NULL) printf("%s\t%lld\n", key, sum);
      free(key); key = strdup(line); sum = 0;
    }
    sum += atoll(tab + 1);
  }
  if (key != NULL) printf("%s\t%lld\n", key, sum);
  free(key); free(line);
  return 0;
}
