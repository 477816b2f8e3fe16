#ifndef HD_TIME_H
#define HD_TIME_H
#include <sys/types.h>
#define CLOCKS_PER_SEC ((clock_t)1000000)
#define CLOCK_REALTIME 0
#define CLOCK_MONOTONIC 1
#define CLOCK_PROCESS_CPUTIME_ID 2
#define TIME_UTC 1
typedef int clockid_t;
#ifndef HD_HEADER_TEST
struct timespec { time_t tv_sec; long tv_nsec; };
struct tm {
  int tm_sec; int tm_min; int tm_hour; int tm_mday; int tm_mon; int tm_year; int tm_wday; int tm_yday; int tm_isdst;
  long tm_gmtoff; const char *tm_zone;
};
#endif
time_t time(time_t *to);
clock_t clock(void);
double difftime(time_t a, time_t b);
time_t mktime(struct tm *parts);
time_t timegm(struct tm *parts);
struct tm *gmtime(const time_t *t);
struct tm *gmtime_r(const time_t *t, struct tm *to);
struct tm *localtime(const time_t *t);
struct tm *localtime_r(const time_t *t, struct tm *to);
char *asctime(const struct tm *parts);
char *ctime(const time_t *t);
size_t strftime(char *to, size_t size, const char *format, const struct tm *parts);
#ifdef _GNU_SOURCE
char *strptime(const char *text, const char *format, struct tm *to);
#endif
int clock_gettime(clockid_t id, struct timespec *to);
int nanosleep(const struct timespec *wanted, struct timespec *left);
int timespec_get(struct timespec *to, int base);
#endif
