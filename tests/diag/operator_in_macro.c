#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define STRING(x) #x
#define PRAGMA(x) _Pragma(STRING(x))
#define MAPPER(k) PRAGMA(mapreduce mapper key(p) value(v))
int main(void) {
  char k[32] = "", *line = NULL, *p = NULL; size_t cap = 0; ssize_t n; int v = 1;
  MAPPER(k)  // ERROR HD104 "keylength"
  while ((n = getline(&line, &cap, stdin)) != -1) {
    line[n - 1] = 0;
    printf("%s\t%d\n", k, v);
  }
  free(line);
  return v - 1 + (p != NULL);
}
