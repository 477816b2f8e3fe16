#ifndef HD_FEATURES_H
#define HD_FEATURES_H
#include <hd_types.h>
#define __GLIBC_PREREQ(major, minor) ((__GLIBC__ << 16) + __GLIBC_MINOR__ >= ((major) << 16) + (minor))
#endif
