#include <stdio.h>
int main(void) {
#ifdef __USE_MISC
  return 0;  // REFUSED HD306 "depends on a system header"
#else
  return 1;
#endif
}
