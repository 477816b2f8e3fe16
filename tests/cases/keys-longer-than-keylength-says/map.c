#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
  char word[64], *line = NULL; size_t cap = 0; ssize_t n; int one;
  #pragma mapreduce mapper key(word) value(one) keylength(8) vallength(1)
  while ((n = getline(&line, &cap, stdin)) != -1) {
    one = 1;
    strncpy(word, line, 63); word[63] = 0;
    word[strcspn(word, "\n")] = 0;
    printf("%s\t%d\n", word, one);
  }
  free(line);
  return 0;
}
