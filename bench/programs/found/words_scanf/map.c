#include <stdio.h>

int main() {
  char word[1000];

#pragma mapreduce mapper key(word)
  while (scanf("%999s", word) != EOF) {
    printf("%s\t%d\n", word, 1);
  }
  return 0;
}
