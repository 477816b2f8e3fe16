#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct rec { int **a; };
int main(void) {
  char k[32] = "", *line = NULL, *p = NULL; size_t cap = 0; ssize_t n; int v = 1; struct rec r = {0}; char **names = 0; (void)names; (void)r;
  #pragma mapreduce mapper key(r) value(names) texture(v)  // ERROR HD120 "'key' needs a number.*'r' is 'struct rec'" ERROR HD120 "'value' needs" ERROR HD120 "'texture' needs an array"
  while ((n = getline(&line, &cap, stdin)) != -1) {
    line[n - 1] = 0;
    printf("%s\t%d\n", k, v);
  }
  free(line);
  return v - 1 + (p != NULL);
}
