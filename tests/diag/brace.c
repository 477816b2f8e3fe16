#include <stdio.h>
int main(void) {
  char k[8] = ""; int v = 0, c;
  #pragma mapreduce combiner key(k) value(v) keyin(k) valuein(v) {   // ERROR HD108 "on the directive's line"
  while ((c = getchar()) != EOF) v += c;
  return 0;
}
