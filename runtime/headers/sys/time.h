#ifndef HD_SYS_TIME_H
#define HD_SYS_TIME_H
#include <sys/types.h>
#ifndef HD_HEADER_TEST
struct timeval { time_t tv_sec; suseconds_t tv_usec; };
struct timezone { int tz_minuteswest; int tz_dsttime; };
#endif
#ifndef HD_HEADER_TEST
int gettimeofday(struct timeval *to, void *zone);
#endif
#endif
