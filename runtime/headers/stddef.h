#ifndef HD_STDDEF_H
#define HD_STDDEF_H
#include <hd_types.h>
typedef long ptrdiff_t;
#ifndef HD_HEADER_TEST
typedef struct { long long hd_ll; long double hd_ld; } max_align_t;
#endif
#define offsetof(type, member) __builtin_offsetof(type, member)
#endif
