#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef char word[30];
enum color { RED };
static int helper(void) { return RED; }
int main(void) {
  char k[32] = "", *line = NULL, *p = NULL; size_t cap = 0; ssize_t n; int v = 1; v = helper(); word w; (void)w;
  #pragma mapreduce mapper key(word) value(helper) sharedRO(RED)  // ERROR HD112 "'word' in 'key' is a type" ERROR HD112 "is a function" ERROR HD112 "is an enumerator"
  while ((n = getline(&line, &cap, stdin)) != -1) {
    line[n - 1] = 0;
    printf("%s\t%d\n", k, v);
  }
  free(line);
  return v - 1 + (p != NULL);
}
