#ifndef HD_SYS_PARAM_H
#define HD_SYS_PARAM_H
#include <sys/types.h>
#include <limits.h>
#define MIN(a, b) (((a) < (b)) ? (a) : (b))
#define MAX(a, b) (((a) > (b)) ? (a) : (b))
#define roundup(x, y) ((((x) + ((y) - 1)) / (y)) * (y))
#endif
