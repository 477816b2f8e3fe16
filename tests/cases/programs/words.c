#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int next_word(const char *s, int off, char *w, int n, int max) {
  int i = off, j = 0;
  while (i < n && (s[i]==' ' || s[i]=='\t' || s[i]=='\r' || s[i]=='\n')) i++;
  if (i >= n) return -1;
  while (i < n && s[i]!=' ' && s[i]!='\t' && s[i]!='\r' && s[i]!='\n') {
    if (j < max - 1) w[j++] = s[i];
    i++;
  }
  w[j] = 0;
  return i;
}
int main(void) {
  char word[32], *line = NULL; size_t cap = 0; ssize_t n; int off, one;
  #pragma mapreduce mapper key(word) value(one) keylength(32) vallength(1)
  while ((n = getline(&line, &cap, stdin)) != -1) {
    off = 0; one = 1;
    while ((off = next_word(line, off, word, (int)n, 32)) != -1)
      printf("%s\t%d\n", word, one);
  }
  free(line);
  return 0;
}
