#include <stdio.h>
#include <string.h>
int main(void) {
  char word[32], prev[32]; int count = 0, val, r;
  prev[0] = 0;
  #pragma mapreduce combiner key(prev) value(count) keyin(word) valuein(val) keylength(32) vallength(1) firstprivate(prev, count)
  {
    while ((r = scanf("%31s %d", word, &val)) == 2) {
      if (strcmp(word, prev) == 0) count += val;
      else {
        if (prev[0]) printf("%s\t%d\n", prev, count);
        strcpy(prev, word); count = val;
      }
    }
    if (prev[0]) printf("%s\t%d\n", prev, count);
  }
  return 0;
}
