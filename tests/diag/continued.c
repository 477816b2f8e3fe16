#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
  char k[32] = "", *line = NULL, *p = NULL; size_t cap = 0; ssize_t n; int v = 1;
  #	pragma   mapreduce\
	mapper /* a comment
   that goes on */ key ( k )\
		value(w)    /* ERROR HD111 "'w' in 'value' is not declared" */ \
    keylength(31) // WARNING HD116 "less than the key"
  while ((n = getline(&line, &cap, stdin)) != -1) {
    line[n - 1] = 0;
    printf("%s\t%d\n", k, v);
  }
  free(line);
  return v - 1 + (p != NULL);
}
