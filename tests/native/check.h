// What checks in C++ count: conditions that do not hold, printed with what was checked.
#pragma once
#include <cstdio>
#include <string>

inline int failures = 0;
inline std::string where;  // what is checked

#define CHECK(condition) \
  do { \
    if (!(condition)) printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #condition, where.c_str()), ++failures; \
  } while (0)
