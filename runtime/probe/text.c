/* sscanf and the printf family, by conversion. */
#include "probe.h"

typedef int (*Scan)(const char *, const char *, ...);

#if defined __GLIBC__ && defined __GLIBC_PREREQ
#if __GLIBC_PREREQ(2, 38)
#define HAS_C23 1
extern int __isoc23_sscanf(const char *, const char *, ...);
#endif
#endif

#define COUNT(array) (sizeof array / sizeof *array)

/* One call with three targets: its result, all bytes of the targets, errno, how far it read. */
static void scan_once(Scan scan, const char *text, const char *format)
{
    static _Alignas(16) char memory[3][256];
    char whole[64];
    int read = -1;

    memset(memory, '#', sizeof memory);
    errno = 0;
    add_number(scan(text, format, memory[0], memory[1], memory[2]));
    add_number(errno);
    add(memory, sizeof memory);
    snprintf(whole, sizeof whole, "%s%%n", format);
    if (strcspn(format, "%") + 1 < strlen(format) && strchr(strchr(format, '%') + 1, '%') == NULL) {
        scan(text, whole, memory[0], &read);
        add_number(read);
    }
}

static void scan_all(const char *shown, Scan scan, const char *const *formats, unsigned count, const char *alphabet)
{
    static const char *const texts[] = {
        "", " ", "12", "-7 8 9", "0x", "0xg", "0x1F", "+0X1f", "0b", "0b2", "0b101", "-0B11", "08", "0777", "--3", "5,6,7",
        "99999999999999999999", "-99999999999999999999", "4294967296", "65536 256 1", "1e5", "1e", "1e+", "1.5e-3x", ".5",
        ".", "-.", "0x.8p1", "0x1p", "0x1p+", "inf", "infinity", "infinit", "-INF", "nan", "-nan", "na", "nanx", "0x1p-3",
        "abc def", "  abc", "a\tb", "a,b", "[x]", "%d", "-", "+", "x=3", "1 2 3", "1:2:3", "\n5", "3.25.1", "1e-999", "1e999",
    };
    char text[40];

    begin();
    for (unsigned f = 0; f < count; f++) {
        for (unsigned i = 0; i < COUNT(texts); i++)
            scan_once(scan, texts[i], formats[f]);
        for (unsigned i = 0; i < 60; i++)
            scan_once(scan, letters(text, alphabet, 12), formats[f]);
    }
    end(shown);
}

static const char *const integers[] = {"%d", "%i", "%u", "%x", "%o", "%ld", "%li", "%lu", "%lx", "%hd", "%hhu", "%lld", "%3d",
                                       "%2i", "%4x", "%1d", "%5i", "%d %d", "%d,%d", "%i %i %i", "%*d %d", "%d%d", "x=%d", "%zu", "%jd"};
static const char *const reals[] = {"%f", "%lf", "%e", "%lg", "%a", "%5lf", "%3f", "%lf %lf", "%lf,%lf", "%*f %f", "%f%f", "%1lf"};
static const char *const words[] = {"%s", "%3s", "%c", "%3c", "%[a-z]", "%[^,]", "%5[^\n]", "%*s %s", "%s %s", "%[]x]", "%[^]x]",
                                    "%%%d", "a%s", " %c", "%[a-c]%s", "%s\t%s", "%[0-9-]", "%*[ ]%c", "%n"};
static const char *const nans[] = {"nan(12)", "nan()", "nan(", "nan(0x1f)x", "-nan(3) 4", "nan(a b)", "nan(_)", "nan(1", "NAN(7)"};

static void scan_nans(void)
{
    begin();
    for (unsigned i = 0; i < COUNT(nans); i++)
        for (unsigned f = 0; f < COUNT(reals); f++)
            scan_once(sscanf, nans[i], reals[f]);
    end("scanned payloads");
}

static void print_reals(void)
{
    static const char *const formats[] = {"%f", "%e", "%g", "%a", "%.0f", "%.3f", "%#.0f", "%10.2f", "%-12.4e|", "%+g", "% g", "%08.3f",
                                          "%.17g", "%.30f", "%#g", "%G", "%.1a", "%.0e", "%#.3g", "%A", "%+.2a", "%020.5a", "%.12g"};
    static const double fixed[] = {0.0, -0.0, 0.5, 1.5, 2.5, 9.9995, 999999.5, 1e22, 1e-5, 0x1.8p-1074, 1.0 / 0.0, -1.0 / 0.0, 5e-324,
                                   1.7976931348623157e308, 0.1, 123456789.125, 9.5, 99.5, 0.0001, 0.00001, 1e15, 1e16, 1e17};
    static char text[1200];

    begin();
    for (unsigned i = 0; i < 400; i++) {
        const double value = i < COUNT(fixed) ? fixed[i] : random_double();
        for (unsigned f = 0; f < COUNT(formats); f++) {
            add_number(snprintf(text, sizeof text, formats[f], value));
            add_text(text);
        }
    }
    end("printed reals");
}

static void print_integers(void)
{
    static const char *const formats[] = {"%d", "%i", "%u", "%x", "%X", "%o", "%#x", "%#o", "%5d", "%-5d|", "%05d", "%+d", "% d", "%.3d",
                                          "%8.3d", "%.0d", "%hd", "%hhu", "%c", "%+.0d", "%-08d|"};
    static const int fixed[] = {0, 1, -1, 7, 255, -256, 2147483647, -2147483647 - 1};
    char text[80];

    begin();
    for (unsigned i = 0; i < 60; i++)
        for (unsigned f = 0; f < COUNT(formats); f++) {
            memset(text, '#', sizeof text);
            add_number(snprintf(text, sizeof text, formats[f], i < COUNT(fixed) ? fixed[i] : (int)random_bits()));
            add(text, 24);
        }
    for (unsigned i = 0; i < 60; i++) {
        const long value = (long)(random_bits() << 16 >> below(50));
        add_number(snprintf(text, sizeof text, "%ld %lu %lx %lo %lld %zu %20ld %-20lx|", value, value, value, value, (long long)value,
                            (size_t)value, value, value));
        add_text(text);
    }
    end("printed integers");
}

static void print_words(void)
{
    static const char *const formats[] = {"%s", "%10s", "%-10s|", "%.3s", "%10.2s", "%.0s", "%5s%%", "%-3s"};
    char text[120], word[40];

    begin();
    for (unsigned i = 0; i < 60; i++)
        for (unsigned f = 0; f < COUNT(formats); f++) {
            memset(text, '#', sizeof text);
            add_number(snprintf(text, i % 3 ? sizeof text : 6, formats[f], letters(word, "abc \t\303\244", 12)));
            add(text, 30);
        }
    end("printed words");
}

void probe_scan(void)
{
    scan_all("scanned integers", sscanf, integers, COUNT(integers), "0123456789 -+xXbBaf,.");
    scan_all("scanned reals", sscanf, reals, COUNT(reals), "0123456789.eE+- pf,i");
    scan_all("scanned words", sscanf, words, COUNT(words), "abcx ,\t\n]%^-09\303\244");
#ifdef HAS_C23
    scan_all("c23:scanned integers", __isoc23_sscanf, integers, COUNT(integers), "0123456789 -+xXbBaf,.");
    scan_all("c23:scanned reals", __isoc23_sscanf, reals, COUNT(reals), "0123456789.eE+- pf,i");
    scan_all("c23:scanned words", __isoc23_sscanf, words, COUNT(words), "abcx ,\t\n]%^-09\303\244");
#endif
    scan_nans();
}

void probe_print(void)
{
    print_reals();
    print_integers();
    print_words();
}
