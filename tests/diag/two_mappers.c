#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
  char k[32] = "", *line = NULL, *p = NULL; size_t cap = 0; ssize_t n; int v = 1;
  #pragma mapreduce mapper key(k)
  while (getline(&line, &cap, stdin) != -1) puts(k);
  #pragma mapreduce mapper key(k)  // ERROR HD118 "this is another"
  while ((n = getline(&line, &cap, stdin)) != -1) puts(k);
  free(line);
  return v - 1 + (p != NULL);
}
