#include <stdio.h>
#include <string.h>

int main() {
  char word[1000], last[1000];
  int n, sum = 0;
  last[0] = 0;
  while (scanf("%999s %d", word, &n) != EOF) {
    if (last[0] && strcmp(word, last)) {
      printf("%s\t%d\n", last, sum);
      sum = 0;
    }
    strcpy(last, word);
    sum += n;
  }
  if (last[0]) printf("%s\t%d\n", last, sum);
  return 0;
}
