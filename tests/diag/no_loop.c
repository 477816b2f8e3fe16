#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
  char k[32] = "", *line = NULL, *p = NULL; size_t cap = 0; ssize_t n; int v = 1;
  #pragma mapreduce mapper key(k)  // ERROR HD110 "must stand before a while, for or do loop"
  v = 1;
  free(line);
  return v - 1 + (p != NULL);
}
