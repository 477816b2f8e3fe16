#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
  char k[32] = "", *line = NULL, *p = NULL; size_t cap = 0; ssize_t n; int v = 1; int kkk = 0; v += kkk;
  #pragma mapreduce mapper key(kk) value(zzz)  // ERROR HD111 "'kk' in 'key' is not declared" ERROR HD111 "'zzz' in 'value'"
  while ((n = getline(&line, &cap, stdin)) != -1) { static int zzz = 3; printf("%s\t%d\n", k, zzz); }
  free(line);
  return v - 1 + (p != NULL);
}
