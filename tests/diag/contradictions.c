#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
  char k[32] = "", *line = NULL, *p = NULL; size_t cap = 0; ssize_t n; int v = 1;
  #pragma mapreduce combiner key(k) keyin(line) valuein(v) firstprivate(p, k) sharedRO(p, line) texture(k)  // ERROR HD113 "'p' is both in 'firstprivate' and in 'sharedRO'" ERROR HD113 "'line' is both in 'keyin'" ERROR HD113 "'k' is both in 'firstprivate' and in 'texture'"
  while ((n = getline(&line, &cap, stdin)) != -1) {
    line[n - 1] = 0;
    printf("%s\t%d\n", k, v);
  }
  free(line);
  return v - 1 + (p != NULL);
}
