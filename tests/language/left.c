/* Forms of C that keep a program on the CPU, a function each: it prints a pair for a line. */
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/types.h>
#include <regex.h>
#include <setjmp.h>
#include <time.h>
#include <wchar.h>

struct packed_date { unsigned day : 5, month : 4, year : 12; int sign : 2; };
static void bit_fields(const char *line)
{
    struct packed_date d;
    d.day = strlen(line);
    d.month = line[0];
    d.year = 1900 + line[0];
    d.sign = line[0] & 3;
    printf("bit_fields\t%u %u %u %d\n", d.day, d.month, d.year, d.sign);
}

static void int128(const char *line)
{
    unsigned __int128 p = (unsigned __int128)strlen(line) << 70;
    printf("int128\t%llu\n", (unsigned long long)(p >> 64));
}

static void long_double(const char *line)
{
    long double x = strlen(line) / 3.0L;
    printf("long_double\t%.6Lf\n", x);
}

static void wide_characters(const char *line)
{
    wchar_t w[64];
    size_t n = mbstowcs(w, line, 64);
    printf("wide_characters\t%zu\n", n);
}

static void regular_expressions(const char *line)
{
    static regex_t re;
    static int ready;
    if (!ready) { regcomp(&re, "[a-z]+[0-9]", REG_EXTENDED); ready = 1; }
    printf("regular_expressions\t%d\n", regexec(&re, line, 0, NULL, 0) == 0);
}

static void mktime_of_a_record(const char *line)
{
    struct tm tm = { .tm_year = 100, .tm_mday = strlen(line) };
    printf("mktime_of_a_record\t%ld\n", (long)mktime(&tm));
}

static void localtime_of_a_record(const char *line)
{
    time_t t = strlen(line) * 86400L;
    printf("localtime_of_a_record\t%d\n", localtime(&t)->tm_year);
}

static void rand_and_srand(const char *line)
{
    srand(strlen(line));
    printf("rand_and_srand\t%d\n", rand());
}

static void random_numbers(const char *line)
{
    printf("random_numbers\t%ld\n", random() ^ *line);
}

static int sum_of(int n, ...)
{
    va_list ap;
    int s = 0;
    va_start(ap, n);
    while (n-- > 0)
        s += va_arg(ap, int);
    va_end(ap);
    return s;
}
static void varargs(const char *line) { printf("varargs\t%d\n", sum_of(3, 1, (int)strlen(line), 5)); }

static void format_into(char *out, size_t n, const char *f, ...) { va_list ap; va_start(ap, f); vsnprintf(out, n, f, ap); va_end(ap); }
static void vsnprintf_of_arguments(const char *line) { char b[32]; format_into(b, sizeof b, "%zu", strlen(line)); printf("vsnprintf_of_arguments\t%s\n", b); }

static jmp_buf jb;
static void long_jumps(const char *line) { if (!setjmp(jb)) { if (!*line) longjmp(jb, 1); printf("long_jumps\t1\n"); } else printf("long_jumps\t2\n"); }

static void memory_streams(const char *line) { FILE *f = fmemopen((void *)line, strlen(line) + 1, "r"); int n = 0; while (f && fgetc(f) > 0) n++; if (f) fclose(f); printf("memory_streams\t%d\n", n); }

static int sum_of_rows(int n, int m, int a[n][m]) { int s = 0; for (int i = 0; i < n; i++) s += a[i][m - 1]; return s; }
static void parameters_of_rows(const char *line) { int a[2][3] = {{1, 2, 3}, {4, 5, *line}}; printf("parameters_of_rows\t%d\n", sum_of_rows(2, 3, a)); }

static void overflow_builtins(const char *line) { int r; bool o = __builtin_mul_overflow((int)strlen(line), 1 << 28, &r); printf("overflow_builtins\t%d %d\n", o, r); }

int main(void)
{
    char line[256];

#pragma mapreduce mapper key(line)
    while (fgets(line, sizeof line, stdin) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        bit_fields(line);
        int128(line);
        long_double(line);
        wide_characters(line);
        regular_expressions(line);
        mktime_of_a_record(line);
        localtime_of_a_record(line);
        rand_and_srand(line);
        random_numbers(line);
        varargs(line);
        vsnprintf_of_arguments(line);
        long_jumps(line);
        memory_streams(line);
        parameters_of_rows(line);
        overflow_builtins(line);
    }
    return 0;
}
