/* stdlib.h's readings of numbers. `c23:` functions are those that newer headers lead to where C23 or _GNU_SOURCE is asked. */
#include "probe.h"

#include <inttypes.h>

static const char *const integers[] = {
    "", "-", "+", "0", "-0", "+7", "  12", "\t-12x", "08", "0777", "0x", "0xg", "0x1F", "-0X1f", "+0x1", "0x-1", "0b", "0b2",
    "0b101", "0B11", "-0b1", "0o7", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
    "-9223372036854775809", "18446744073709551615", "18446744073709551616", "-18446744073709551615",
    "99999999999999999999", "-99999999999999999999", "zZ", "1 2", "\v3", "--4", "00000000000000000000000000012",
};
static const int bases[] = {0, 2, 8, 10, 16, 36, 1, 37, -1};

#define COUNT(array) (sizeof array / sizeof *array)

static const char *integer(unsigned i)
{
    static char text[40];

    return i < COUNT(integers) ? integers[i] : letters(text, i % 2 ? "0123456789" : " 0123456789-+xXabBfz", 24);
}

#define INTEGER_READER(shown, call, type)                                                   \
    begin();                                                                                \
    for (unsigned i = 0; i < COUNT(integers) + 300; i++)                                    \
        for (unsigned b = 0; b < COUNT(bases); b++) {                                       \
            const char *text = integer(i);                                                  \
            char *stop = NULL;                                                              \
            errno = 0;                                                                      \
            type value = call(text, &stop, bases[b]);                                       \
            add(&value, sizeof value);                                                      \
            add_number(bases[b] == 1 || bases[b] > 36 || bases[b] < 0 ? -1 : stop - text);  \
            add_number(errno);                                                              \
        }                                                                                   \
    end(shown)

#define PLAIN_READER(name, type)                              \
    begin();                                                  \
    for (unsigned i = 0; i < COUNT(integers) + 600; i++) {    \
        errno = 0;                                            \
        type value = name(integer(i));                        \
        add(&value, sizeof value);                            \
        add_number(errno);                                    \
    }                                                         \
    end(#name)

/* Without what is known to differ, which has lines of its own: subnormal hexadecimal numbers, too large payloads. */
static const char *const reals[] = {
    "", " ", "+", "-", ".", "-.", "+.5", "-0", "-0e5", "1e", "1e+", "1e-5x", "0x", "0x.", "0x.8", "0x.p3", "0xg", "1.2.3",
    "1 2", "inf", "INFINITY", "infinit", "-Inf", "nan", "-nan", "NaN(123)", "nan(0x7f)", "nan(0777)", "nan(", "nan()",
    "nan(abc)", "nan(09)", "nan(0x)", "nan(_)", "nan(1_)", "nano", "0e99999999999", "1e99999999999999999999999",
    "1e-99999999999999999999999", "00000000000000000000000000000000001", "2.2250738585072011e-308", "1e-999", "-1e-999",
    "1e999", "2.2250738585072012e-308", "2.2250738585072013e-308", "2.2250738585072014e-308", "4.9e-324", "2.4e-324",
    "2.5e-324", "1.17549435e-38", "1.17549421e-38", "1.4e-45", "7e-46", "7.1e-46", "3.4028235e38", "3.4028236e38",
    "3.40282357e38", "1.7976931348623157e308", "1.7976931348623159e308", "9007199254740993", "0x1p1023", "0x1p1024",
    "0x1.fffffffffffff8p1023", "0x1.00000000000008p0", "0x1.00000000000018p0", "0x1.00000000000008001p0", "0x1p-1",
    "0b101", "1,5", "1'000", "0x1p", "0x1p+", "1E5", "0X1P5", "0x0p0", "0x0.0p-99999", "5e-1000000000000000000000", "1_0",
};

static const char *real(unsigned i)
{
    static char text[96];
    char *at = text;

    if (i < COUNT(reals))
        return reals[i];
    switch (below(5)) {
    case 0: return letters(text, "0123456789.eE+- ", 24);
    case 1: snprintf(text, sizeof text, "%.17e", random_double()); return text;
    case 2: snprintf(text, sizeof text, "%u.%ue%d", below(1000), below(1000000000), (int)below(700) - 350); return text;
    case 3: at = letters(text, "0123456789", 30); at += strlen(at); *at++ = '.'; letters(at, "0123456789", 30); return text;
    default:
        snprintf(text, sizeof text, "0x1.%xp%d", (unsigned)random_bits(), (int)below(180) - 90);
        return text;
    }
}

#define REAL_READER(shown, call, type)                        \
    begin();                                                  \
    for (unsigned i = 0; i < COUNT(reals) + 1500; i++) {      \
        const char *text = real(i);                           \
        char *stop;                                           \
        errno = 0;                                            \
        type value = call(text, &stop);                       \
        add(&value, sizeof value);                            \
        add_number(stop - text);                              \
        add_number(errno);                                    \
    }                                                         \
    end(shown)

static double atof_to(const char *text, char **stop)
{
    *stop = (char *)text;
    return atof(text);
}

/* Bits on both sides of where a subnormal mantissa ends. */
static void tiny_hexadecimals(void)
{
    char text[64], *stop;

    begin();
    for (unsigned i = 0; i < 1500; i++) {
        const unsigned is_float = i % 2;
        const uint64_t mantissa = (random_bits() | 1ull << 55) >> below(is_float ? 40 : 12);
        if (i < 2)
            strcpy(text, i ? "0xaA9.CC88p-141" : "0x1.fffffffffffffp-1023");
        else
            snprintf(text, sizeof text, "0x%llxp%d", (unsigned long long)mantissa,
                     (is_float ? -149 : -1074) - (int)below(is_float ? 56 : 60) + 3);
        errno = 0;
        const double value = strtod(text, &stop);
        add(&value, sizeof value);
        add_number(errno);
        errno = 0;
        const float single = strtof(text, &stop);
        add(&single, sizeof single);
        add_number(errno);
    }
    end("tiny hexadecimals");
}

static void large_payloads(void)
{
    static const char *const texts[] = {"nan(99999999999999999999999)", "-nan(0xfffffffffffffffff)", "nan(7777777777777777777777777)",
                                        "nan(99999999999999999999999z)", "nan(18446744073709551616)"};
    char *stop;

    begin();
    for (unsigned i = 0; i < COUNT(texts); i++) {
        errno = 0;
        const double value = strtod(texts[i], &stop);
        const float single = strtof(texts[i], &stop);
        add(&value, sizeof value);
        add(&single, sizeof single);
        add_number(errno);
    }
    end("large payloads");
}

#if defined __GLIBC__ && defined __GLIBC_PREREQ
#if __GLIBC_PREREQ(2, 38)
#define HAS_C23 1
extern long __isoc23_strtol(const char *, char **, int);
extern unsigned long __isoc23_strtoul(const char *, char **, int);
extern long long __isoc23_strtoll(const char *, char **, int);
extern unsigned long long __isoc23_strtoull(const char *, char **, int);
extern intmax_t __isoc23_strtoimax(const char *, char **, int);
extern uintmax_t __isoc23_strtoumax(const char *, char **, int);
#endif
#endif

static void random_numbers(void)
{
    begin();
    for (unsigned i = 0; i < 300; i++) {
        unsigned seed = i < 3 ? i * 0x7fffffffu : (unsigned)random_bits();
        add_number(rand_r(&seed));
        add_number(rand_r(&seed));
        add_number(seed);
    }
    end("rand_r");
}

void probe_numbers(void)
{
    INTEGER_READER("strtol", strtol, long);
    INTEGER_READER("strtoul", strtoul, unsigned long);
    INTEGER_READER("strtoll", strtoll, long long);
    INTEGER_READER("strtoull", strtoull, unsigned long long);
    INTEGER_READER("strtoimax", strtoimax, intmax_t);
    INTEGER_READER("strtoumax", strtoumax, uintmax_t);
#ifdef HAS_C23
    INTEGER_READER("c23:strtol", __isoc23_strtol, long);
    INTEGER_READER("c23:strtoul", __isoc23_strtoul, unsigned long);
    INTEGER_READER("c23:strtoll", __isoc23_strtoll, long long);
    INTEGER_READER("c23:strtoull", __isoc23_strtoull, unsigned long long);
    INTEGER_READER("c23:strtoimax", __isoc23_strtoimax, intmax_t);
    INTEGER_READER("c23:strtoumax", __isoc23_strtoumax, uintmax_t);
#endif
    PLAIN_READER(atoi, int);
    PLAIN_READER(atol, long);
    PLAIN_READER(atoll, long long);
    REAL_READER("strtod", strtod, double);
    REAL_READER("strtof", strtof, float);
    REAL_READER("atof", atof_to, double);
    tiny_hexadecimals();
    large_payloads();
    random_numbers();
}
