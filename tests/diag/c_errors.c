#include <stdio.h>
int main(void) {
  int a = 3;
  a = unknown_name;  // ERROR HD300 "'unknown_name' undeclared"
  puts(other);  // ERROR HD300 "'other' undeclared"
  return a;
}
