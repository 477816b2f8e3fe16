#include <stdio.h>
int main(void) {
  int a = 3;
  a = unknown_name;  // ERROR HD300 "'unknown_name' undeclared"
  return f(;  // ERROR HD300 "expected expression" ERROR HD300 "expected ';'"
}
