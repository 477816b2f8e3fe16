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
char *asctime_r(const struct tm *parts, char *to);
char *ctime(const time_t *t);
char *ctime_r(const time_t *t, char *to);
size_t strftime(char *to, size_t size, const char *format, const struct tm *parts);
#ifdef _GNU_SOURCE
char *strptime(const char *text, const char *format, struct tm *to);
#endif
int clock_gettime(clockid_t id, struct timespec *to);
int nanosleep(const struct timespec *wanted, struct timespec *left);
int timespec_get(struct timespec *to, int base);

/* What of dates depends on nothing but its arguments, as kernels have it: programs and filters call the C library's. What is
 * out of the ordinary ends the record, and so its task goes to the C library: years beyond 9999, members out of their ranges. */
#ifndef HD_HEADER_TEST
void abort(void);
size_t strlen(const char *s);
char *strcpy(char *to, const char *from);
time_t __hd_days(int year, int month, int day)
{
  long y = month <= 2 ? year - 1 : year, era = (y >= 0 ? y : y - 399) / 400, of_era = y - era * 400;
  long of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
  return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}
struct tm *gmtime_r(const time_t *t, struct tm *to)
{
  long days = *t / 86400, rest = *t % 86400, era, of_era, y, of_year, m;
  if (rest < 0) {
    rest += 86400;
    days--;
  }
  if (days < -719162 || days > 2932896)
    abort();
  to->tm_hour = rest / 3600;
  to->tm_min = rest % 3600 / 60;
  to->tm_sec = rest % 60;
  to->tm_wday = (days % 7 + 11) % 7;
  days += 719468;
  era = days / 146097;
  of_era = days % 146097;
  y = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
  of_year = of_era - (365 * y + y / 4 - y / 100);
  m = (5 * of_year + 2) / 153;
  to->tm_mday = of_year - (153 * m + 2) / 5 + 1;
  to->tm_mon = m < 10 ? m + 2 : m - 10;
  y += era * 400 + (to->tm_mon < 2);
  to->tm_year = y - 1900;
  to->tm_yday = days - 719468 - __hd_days(y, 1, 1);
  to->tm_isdst = 0;
  to->tm_gmtoff = 0;
  to->tm_zone = "GMT";
  return to;
}
struct tm *gmtime(const time_t *t)
{
  static struct tm kept;
  return gmtime_r(t, &kept);
}
int __hd_within(int number, int low, int high)
{
  if (number < low || number > high)
    abort();
  return number;
}
time_t timegm(struct tm *parts)
{
  int year = __hd_within(parts->tm_year, -899, 8099) + 1900, month = __hd_within(parts->tm_mon, 0, 11) + 1;
  int day = __hd_within(parts->tm_mday, 1, 31), hour = __hd_within(parts->tm_hour, 0, 23);
  int minute = __hd_within(parts->tm_min, 0, 59);
  time_t t = __hd_days(year, month, day) * 86400 + hour * 3600 + minute * 60 + __hd_within(parts->tm_sec, 0, 59);
  gmtime_r(&t, parts);
  __hd_within(parts->tm_mday, day, day);
  return t;
}
double difftime(time_t a, time_t b)
{
  return a - b;
}
struct __hd_date { char text[128]; };
void __hd_date_written(struct __hd_date *to, const char *format, const struct tm *parts);
size_t strftime(char *to, size_t size, const char *format, const struct tm *parts)
{
  struct __hd_date made;
  __hd_date_written(&made, format, parts);
  size_t length = strlen(made.text);
  if (length >= size)
    abort(); /* the library's result is 0 then, and what it has written its own affair */
  strcpy(to, made.text);
  return length;
}
char *asctime_r(const struct tm *parts, char *to)
{
  strftime(to, 26, "%a %b %e %H:%M:%S %Y\n", parts);
  return to;
}
char *asctime(const struct tm *parts)
{
  static char kept[26];
  return asctime_r(parts, kept);
}
long __hd_date_read(const char *text, const char *format, struct tm *to);
#ifdef _GNU_SOURCE
char *strptime(const char *text, const char *format, struct tm *to)
{
  long length = __hd_date_read(text, format, to);
  return length < 0 ? (char *)0 : (char *)text + length;
}
#endif
#endif
#endif
