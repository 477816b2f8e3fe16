#include <stdio.h>
int main(void) {
  int i;
  for (i = 0; i < 10000; i++) printf("key%d\t%d\n", i % 10, i);
  return 0;
}
