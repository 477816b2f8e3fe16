#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
  char k[32] = "", *line = NULL, *p = NULL; size_t cap = 0; ssize_t n; int v = 1;
  #pragma mapreduce combiner key(k) value(v) keyin(line) valuein(n)  // ERROR HD110 "must hold its loop"
  { v = 2; }
  free(line);
  return v - 1 + (p != NULL);
}
