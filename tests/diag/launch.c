#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
  char k[32] = "", *line = NULL, *p = NULL; size_t cap = 0; ssize_t n; int v = 1;
  #pragma mapreduce mapper key(k) blocks(0) threads(2048) kvpairs(99999999)  // ERROR HD115 "'blocks'" ERROR HD115 "'threads' must be from 1 to 1024" ERROR HD115 "'kvpairs'"
  while ((n = getline(&line, &cap, stdin)) != -1) {
    line[n - 1] = 0;
    printf("%s\t%d\n", k, v);
  }
  free(line);
  return v - 1 + (p != NULL);
}
