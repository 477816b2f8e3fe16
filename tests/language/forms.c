/* Forms of C that run everywhere, a function each: it prints a pair for a line. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <assert.h>
#include <byteswap.h>
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
#include <time.h>

static void case_ranges(const char *line)
{
    int small = 0, large = 0, digits = 0, other = 0;
    for (; *line; line++)
        switch (*line) {
        case 'a' ... 'z': small++; break;
        case 'A' ... 'Z': large++; break;
        case '0' ... '9': digits++; break;
        default: other++;
        }
    printf("case_ranges\t%d %d %d %d\n", small, large, digits, other);
}

#define LARGER(a, b) ({ __typeof__(a) _a = (a), _b = (b); _a > _b ? _a : _b; })
static void statement_expressions(const char *line)
{
    int n = LARGER((int)strlen(line), 3);
    int v = ({ int t = 0; for (const char *p = line; *p; p++) t += *p & 7; t; });
    if (({ int q = n % 2; q; }))
        v++;
    printf("statement_expressions\t%d %d\n", n, v);
}

static void omitted_middle(const char *line)
{
    int n = (int)strlen(line) % 3 ?: 7;
    printf("omitted_middle\t%d\n", n);
}

static const char classes[256] = { ['0' ... '9'] = 'd', ['a' ... 'z'] = 'l', [200] = 'x' };
static void range_designators(const char *line)
{
    int d = 0;
    for (; *line; line++)
        d += classes[(unsigned char)*line] == 'd';
    printf("range_designators\t%d\n", d);
}

struct point { int x, y; };
static int norm(struct point p) { return p.x * p.x + p.y * p.y; }
static int total(const int *v, int n) { int s = 0; while (n--) s += v[n]; return s; }
static void compound_literals(const char *line)
{
    int n = strlen(line);
    struct point q = (struct point){ .y = n };
    printf("compound_literals\t%d %d %d\n", norm((struct point){ n, 2 }), total((int[]){ 1, n, 3 }, 3), q.y - q.x);
}

static const int weights[128] = { ['a'] = 1, ['e'] = 5, ['z'] = 9 };
static void designated_initialisers(const char *line)
{
    struct point p = { .y = 4, .x = 1 };
    int local[8] = { [3] = 7, 8, [0] = 1 }, s = 0;
    for (; *line; line++)
        if ((unsigned char)*line < 128)
            s += weights[(unsigned char)*line];
    printf("designated_initialisers\t%d %d %d\n", s, p.x * 10 + p.y, local[0] * 100 + local[3] * 10 + local[4]);
}

static void arrays_of_strings(const char *line)
{
    const char *words[] = { "zero", "one", "two", "many" };
    char fixed[3][8] = { "ab", "cd", "ef" };
    size_t n = strlen(line);
    printf("arrays_of_strings\t%s %s\n", words[n < 3 ? n : 3], fixed[n % 3]);
}

static const struct { const char *name; int low, high; } grades[] = { { "a", 90, 100 }, { "b", 70, 89 }, { "c", 0, 69 } };
static void const_tables(const char *line)
{
    int v = (unsigned char)line[0] % 101;
    for (unsigned i = 0; i < sizeof grades / sizeof *grades; i++)
        if (v >= grades[i].low && v <= grades[i].high)
            printf("const_tables\t%s %d\n", grades[i].name, v);
}

static const char *month_name(int m)
{
    static const char *names[] = { "jan", "feb", "mar" };
    static int calls_limit = 3;
    return m >= 0 && m < calls_limit ? names[m] : "?";
}
static void constant_statics(const char *line)
{
    printf("constant_statics\t%s\n", month_name(strlen(line) % 4));
}

static void ternary_strings(const char *line)
{
    const char *kind = isdigit((unsigned char)line[0]) ? "number" : isalpha((unsigned char)line[0]) ? "word" : "other";
    printf("ternary_strings\t%s%s\n", kind, strlen(line) > 5 ? " (long)" : "");
}

static void comma_operators(const char *line)
{
    int i, j, n = 0;
    for (i = 0, j = (int)strlen(line) - 1; i < j; i++, j--)
        n += line[i] == line[j];
    n = (i++, j--, n + i - j);
    printf("comma_operators\t%d\n", n);
}

static void chained_assign(const char *line) { int a, b, c; a = b = c = strlen(line); a += b -= c /= 2; a <<= 2; a ^= 5; a %= 100; printf("chained_assign\t%d %d %d\n", a, b, c); }

enum state { START, WORD = 5, NUMBER, END };
static void enums(const char *line)
{
    enum state s = START;
    for (; *line; line++)
        s = isdigit((unsigned char)*line) ? NUMBER : isalpha((unsigned char)*line) ? WORD : s;
    printf("enums\t%d\n", s);
}

#define KIND(x) _Generic((x), int: "int", double: "double", char *: "text", default: "other")
static void generic_selections(const char *line) { int n = strlen(line); printf("generic_selections\t%s %s %d\n", KIND(n), KIND(n * 1.0), n); }

static void static_assertions(const char *line) { _Static_assert(sizeof(int) == 4, "int"); printf("static_assertions\t%zu\n", strlen(line)); }

static void local_typedefs(const char *line) { typedef unsigned char byte; byte b = line[0]; struct local { byte a, b; } l = { b, 1 }; printf("local_typedefs\t%d %d\n", l.a, l.b); }

static void types_of_expressions(const char *line) { __typeof__(strlen(line)) n = strlen(line); printf("types_of_expressions\t%zu\n", n); }

static inline __attribute__((always_inline)) int twice(const int x) { return x + x; }
static void inline_and_const(const char *restrict line) { register int n = twice(strlen(line)); volatile int v = n; printf("inline_and_const\t%d\n", v); }

static int old_style(a, b) int a; int b; { return a - b; }
static void old_style_parameters(const char *line) { printf("old_style_parameters\t%d\n", old_style((int)strlen(line), 1)); }

static void integer_types(const char *line)
{
    _Bool some = *line;
    bool more = line[0] && line[1];
    int64_t wide = INT64_C(1) << 40;
    uint8_t small = (uint8_t)(200 + strlen(line));
    int16_t mid = (int16_t)(wide >> 20);
    size_t n = strlen(line);
    ssize_t neg = -(ssize_t)n;
    ptrdiff_t d = &line[n] - line;
    uintptr_t zero = 0;
    intmax_t m = INTMAX_MAX;
    printf("integer_types\t%d %d %" PRId64 " %" PRIu8 " %d %zu %zd %td %ju %jd\n", some, more, wide + n, small, mid, n, neg, d, (uintmax_t)zero, m);
}

static void bit_tricks(const char *line) { uint32_t x = (uint32_t)strlen(line) * 2654435761u; x = (x << 7) | (x >> 25); x ^= ~x >> 3; printf("bit_tricks\t%u %d\n", x, -1 >> 1); }

static void float_types(const char *line) { float f = strlen(line) / 3.0f; double d = f; printf("float_types\t%.9g %.17g\n", f, d * d); }

union word { unsigned u; float f; unsigned char b[4]; };
static void unions(const char *line)
{
    union word w;
    w.f = strlen(line) + 0.5f;
    printf("unions\t%08x %d\n", w.u, w.b[3]);
}

struct range { int low, high; char name[8]; };
static struct range make_range(int n) { struct range r = { n, n * 2, "r" }; return r; }
static void struct_returns(const char *line)
{
    struct range r = make_range(strlen(line)), s = r;
    s.name[0] = 's';
    printf("struct_returns\t%d %d %s %s\n", r.low, s.high, r.name, s.name);
}

struct rec { struct point at; struct { char text[16]; int n; } body; int v[3]; };
static void fill(struct rec *r, const char *s)
{
    r->at = (struct point){ 1, 2 };
    snprintf(r->body.text, sizeof r->body.text, "%.10s", s);
    r->body.n = strlen(r->body.text);
    for (int i = 0; i < 3; i++)
        r->v[i] = i * r->body.n;
}
static void nested_structs(const char *line)
{
    struct rec r = { 0 }, all[2] = { 0 };
    fill(&r, line);
    all[1] = r;
    fill(&all[0], "x");
    printf("nested_structs\t%d %d %d %d\n", r.at.y, all[1].body.n, all[1].v[2], all[0].v[1]);
}

static void arrays_of_structs(const char *line)
{
    struct { char c; int n; } seen[16];
    int used = 0, i;
    for (; *line; line++) {
        for (i = 0; i < used && seen[i].c != *line; i++)
            ;
        if (i == used) {
            if (used == 16)
                break;
            seen[used].c = *line;
            seen[used++].n = 0;
        }
        seen[i].n++;
    }
    int best = 0;
    for (i = 1; i < used; i++)
        if (seen[i].n > seen[best].n)
            best = i;
    printf("arrays_of_structs\t%d\n", used ? seen[best].n : 0);
}

struct flex { int n; char data[]; };
static void flexible_arrays(const char *line) { printf("flexible_arrays\t%zu\n", sizeof(struct flex) + strlen(line)); }

static void offsets(const char *line) { printf("offsets\t%zu %zu %zu\n", offsetof(struct rec, body), sizeof(struct rec), _Alignof(double) + strlen(line)); }

static void two_dimensions(const char *line)
{
    int m[3][4] = { { 1, 2 }, { 3 } }, (*row)[4] = m, s = 0;
    m[2][line[0] & 3] = 9;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++)
            s += row[i][j] * (i + 1);
    printf("two_dimensions\t%d\n", s);
}

static void pointer_walks(const char *line)
{
    const char *p = line, *end = line + strlen(line);
    unsigned h = 0;
    while (p < end)
        h = h * 31 + (unsigned char)*p++;
    while (--p >= line)
        h ^= *p;
    printf("pointer_walks\t%u %ld\n", h, (long)(end - line));
}

static int depth(const char *s, int d) { return *s == '\0' || d > 20 ? d : depth(s + 1, d + 1); }
static void recursion(const char *line) { printf("recursion\t%d\n", depth(line, 0)); }

static void goto_cleanup(const char *line)
{
    int n = 0;
    if (!*line)
        goto out;
    if (line[0] == '#') {
        n = -1;
        goto out;
    }
again:
    n++;
    if (line[n] && n < 10)
        goto again;
out:
    printf("goto_cleanup\t%d\n", n);
}

static void duffs_device(const char *line)
{
    int n = strlen(line) % 7 + 1, sum = 0, k = (n + 3) / 4;
    switch (n % 4) {
    case 0: do { sum += k;
    case 3:      sum += 2;
    case 2:      sum += 3;
    case 1:      sum += 4;
            } while (--k > 0);
    }
    printf("duffs_device\t%d\n", sum);
}

static void builtins(const char *line) { unsigned long n = strlen(line) + 1; if (__builtin_expect(n > 1000, 0)) return; printf("builtins\t%d %d\n", __builtin_popcountl(n), __builtin_ctzl(n)); }

static void assertions(const char *line) { assert(line != NULL); printf("assertions\t%zu\n", strlen(line)); }

static void printf_formats(const char *line)
{
    int n = strlen(line);
    printf("printf_formats\t[%*d] [%-*d] [%-10s] [%10.3s] [%.*s] [%5.2f] [%x] [%#X] [%o] [%c] [%%] [%+d] [%05d] [%e] [%g]\n",
           6, n, 6, n, "ab", "abcdef", 2, line, n / 3.0, n, n + 255, n, 'c', n, n, n * 1.5, n / 7.0);
}

static void piecewise(const char *line)
{
    int n = strlen(line), i;
    printf("%s", "piecewise");
    putchar('\t');
    for (i = 0; i < 3; i++)
        printf("%s%d", i ? "," : "", n + i);
    fputs(";", stdout);
    fwrite("xyz", 1, 2, stdout);
    fputc('.', stdout);
    putc('!', stdout);
    fprintf(stdout, "%d", n);
    puts("");
}

static void fwrite_line(const char *line)
{
    fputs("fwrite_line\t", stdout);
    fwrite(line, 1, strlen(line), stdout);
    putchar('\n');
}

static void puts_buffer(const char *line)
{
    char out[64];
    snprintf(out, sizeof out, "puts_buffer\t%zu", strlen(line));
    puts(out);
}

static void fprintf_stderr(const char *line) { if (!*line) fprintf(stderr, "reporter:counter:forms,empty,1\n"); printf("fprintf_stderr\t%zu\n", strlen(line)); }

static void string_concat(const char *line) { printf("string_concat" "\t" "%zu" "\n", strlen(line) + sizeof "abc" "def"); }

static void growing_sprintf(const char *line)
{
    char out[512];
    char *p = out;
    int i;
    p += sprintf(p, "<");
    for (i = 0; line[i] && i < 20; i++)
        p += sprintf(p, "%02x", (unsigned char)line[i]);
    strcat(p, ">");
    printf("growing_sprintf\t%s\n", out);
}

static void growing_strcat(const char *line)
{
    char out[512] = "";
    size_t used = 0;
    while (*line && used < 400) {
        char part[8];
        snprintf(part, sizeof part, "%d,", *line++ % 10);
        strcat(out, part);
        used += strlen(part);
    }
    printf("growing_strcat\t%s\n", out);
}

static char *next_word(void) { return strtok(NULL, " \t\n"); }
static char *first_word(char *s) { return strtok(s, " \t\n"); }
static void strtok_across(const char *line)
{
    char copy[256];
    int n = 0;
    snprintf(copy, sizeof copy, "%s", line);
    for (char *w = first_word(copy); w; w = next_word())
        n += strlen(w);
    printf("strtok_across\t%d\n", n);
}

static char *take(char **save) { return strtok_r(NULL, ",;", save); }
static void strtok_r_across(const char *line)
{
    char copy[256], *save, *w;
    int n = 0;
    strncpy(copy, line, sizeof copy - 1);
    copy[sizeof copy - 1] = 0;
    for (w = strtok_r(copy, " \n", &save); w; w = take(&save))
        n++;
    printf("strtok_r_across\t%d\n", n);
}

static void strsep_fields(const char *line)
{
    char copy[300], *rest = copy, *f;
    int n = 0;
    snprintf(copy, sizeof copy, "%s", line);
    while ((f = strsep(&rest, ",")) != NULL)
        n = n * 10 + (int)strlen(f) % 10;
    printf("strsep_fields\t%d\n", n);
}

static void sscanf_fields(const char *line) { int a = 0, n = 0; char w[16] = ""; int r = sscanf(line, "%15[a-z]%d%n", w, &a, &n); printf("sscanf_fields\t%d %s %d %d\n", r, w, a, n); }

static void atoi_family(const char *line) { printf("atoi_family\t%d %ld %.3f\n", atoi(line), atol(line), atof(line)); }

static void errno_of_strtol(const char *line) { char *e; errno = 0; long v = strtol(line, &e, 10); printf("errno_of_strtol\t%ld %d\n", v, errno == ERANGE); }

static void ctype_tables(const char *line) { int n = 0; for (; *line; line++) n += isxdigit((unsigned char)*line) && !isupper((unsigned char)*line); printf("ctype_tables\t%d\n", n); }

static void memmove_inside(const char *line) { char b[64]; snprintf(b, sizeof b, "%s", line); size_t n = strlen(b); if (n > 2) memmove(b + 1, b, n - 1); printf("memmove_inside\t%s\n", b); }

static void mathematics(const char *line) { double x = strlen(line); printf("mathematics\t%.6f %.3f %d\n", fabs(x) + exp(-x), pow(x, 1.5), (int)floor(x / 3)); }

static void rand_r_seeded(const char *line)
{
    unsigned seed = strlen(line);
    int a = rand_r(&seed), b = rand_r(&seed);
    printf("rand_r_seeded\t%d %d %u\n", a, b, seed);
}

static void gmtime_of_a_record(const char *line)
{
    time_t t = strlen(line) * 8640000L - 40000;
    struct tm *tm = gmtime(&t), copy;
    long back;
    printf("gmtime_of_a_record\t%d-%02d-%02d %02d:%02d:%02d %d %d ", tm->tm_year + 1900, tm->tm_mon + 1, tm->tm_mday, tm->tm_hour,
           tm->tm_min, tm->tm_sec, tm->tm_wday, tm->tm_yday);
    t += 86400;
    gmtime_r(&t, &copy);
    back = timegm(&copy);
    printf("%ld %d\n", back, copy.tm_mday);
}

static void strftime_of_a_record(const char *line)
{
    char out[64];
    time_t t = strlen(line) * 7654321L;
    struct tm tm = { .tm_year = 100, .tm_mday = strlen(line) % 31 + 1 };
    strftime(out, sizeof out, "%Y-%m-%d", &tm);
    printf("strftime_of_a_record\t%s ", out);
    if (strftime(out, sizeof out, "%a, %d %b %Y %T %j %V %-I%P", gmtime(&t)) > 0)
        puts(out);
}

static void strptime_of_a_record(const char *line)
{
    struct tm tm = {0};
    char text[64];
    snprintf(text, sizeof text, "%zu/oct/2011:13:%c5:36 -0700", strlen(line) % 40, *line == 'o' ? 'x' : '5');
    char *end = strptime(text, "%d/%b/%Y:%H:%M:%S", &tm);
    if (end == NULL)
        printf("strptime_of_a_record\tnone %d\n", tm.tm_mday);
    else {
        time_t t = timegm(&tm);
        printf("strptime_of_a_record\t%ld %d%s %.0f\n", (long)t, tm.tm_wday, end, difftime(t, 1));
    }
}

static void asctime_of_a_record(const char *line)
{
    time_t t = strlen(line) * 7654321L;
    printf("asctime_of_a_record\t%s", asctime(gmtime(&t)));
}

static void div_of_integers(const char *line)
{
    div_t d = div((int)strlen(line), -7);
    ldiv_t e = ldiv(strlen(line), 3);
    printf("div_of_integers\t%d %d %ld %jd\n", d.quot, d.rem, e.rem, imaxabs(-(intmax_t)strlen(line)));
}

static void internet_addresses(const char *line)
{
    struct in_addr a = {0}, b = {0};
    char text[64];
    snprintf(text, sizeof text, "10.%zu.%s3.200", strlen(line) * 7, *line == 'o' ? "." : "");
    printf("internet_addresses\t%d", inet_aton(text, &a));
    printf(" %s %d", inet_ntoa(a), inet_pton(AF_INET, text, &b));
    printf(" %u ", ntohl(b.s_addr));
    printf("%u %u %u\n", inet_addr(text), bswap_16(a.s_addr & 65535), bswap_32(a.s_addr));
}

static void strdupa_in_a_function(const char *line)
{
    char *copy = strdupa(line), *first = strndupa(line, 3);
    if (*copy)
        *copy = '#';
    printf("strdupa_in_a_function\t%s %s\n", copy, first);
}

static void memccpy_of_a_field(const char *line)
{
    char field[300] = "";
    char *end = memccpy(field, line, ' ', strlen(line));
    printf("memccpy_of_a_field\t%s %d\n", field, end != NULL);
}

struct span { struct { int at, length; } word; double share; };
static struct span last_word(const char *text)
{
    const char *blank = strrchr(text, ' ');
    struct span found = {0};
    found.word.at = blank != NULL ? blank + 1 - text : 0;
    found.word.length = strlen(text + found.word.at);
    found.share = found.word.length / (strlen(text) + 1.0);
    return found;
}
static void members_of_results(const char *line)
{
    if (last_word(line).word.length > 0)
        printf("members_of_results\t%s %.3f\n", line + last_word(line).word.at, last_word(line).share);
}

static void variable_rows(const char *line)
{
    int n = strlen(line) % 9, m = 5;
    const char *other = "World";
    int d[n + 1][m + 1];
    short last[2][m];

    memset(last, 0, sizeof last);
    for (int i = 0; i <= n; i++)
        d[i][0] = i;
    for (int j = 0; j <= m; j++)
        d[0][j] = j;
    for (int i = 1; i <= n; i++)
        for (int j = 1; j <= m; j++) {
            int least = d[i - 1][j] < d[i][j - 1] ? d[i - 1][j] : d[i][j - 1];
            int other_way = d[i - 1][j - 1] + (line[i - 1] != other[j - 1]);
            d[i][j] = least + 1 < other_way ? least + 1 : other_way;
            last[i & 1][j - 1] += d[i][j];
        }
    const int *row = d[n];
    printf("variable_rows\t%d %d %d %zu\n", row[m], *last[1], last[0][m - 1], sizeof d);
}

int main(void)
{
    char line[256];

#pragma mapreduce mapper key(line)
    while (fgets(line, sizeof line, stdin) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        case_ranges(line);
        statement_expressions(line);
        omitted_middle(line);
        range_designators(line);
        compound_literals(line);
        designated_initialisers(line);
        arrays_of_strings(line);
        const_tables(line);
        constant_statics(line);
        ternary_strings(line);
        comma_operators(line);
        chained_assign(line);
        enums(line);
        generic_selections(line);
        static_assertions(line);
        local_typedefs(line);
        types_of_expressions(line);
        inline_and_const(line);
        old_style_parameters(line);
        integer_types(line);
        bit_tricks(line);
        float_types(line);
        unions(line);
        struct_returns(line);
        nested_structs(line);
        arrays_of_structs(line);
        flexible_arrays(line);
        offsets(line);
        two_dimensions(line);
        pointer_walks(line);
        recursion(line);
        goto_cleanup(line);
        duffs_device(line);
        builtins(line);
        assertions(line);
        printf_formats(line);
        piecewise(line);
        fwrite_line(line);
        puts_buffer(line);
        fprintf_stderr(line);
        string_concat(line);
        growing_sprintf(line);
        growing_strcat(line);
        strtok_across(line);
        strtok_r_across(line);
        strsep_fields(line);
        sscanf_fields(line);
        atoi_family(line);
        errno_of_strtol(line);
        ctype_tables(line);
        memmove_inside(line);
        mathematics(line);
        rand_r_seeded(line);
        gmtime_of_a_record(line);
        strftime_of_a_record(line);
        strptime_of_a_record(line);
        asctime_of_a_record(line);
        div_of_integers(line);
        internet_addresses(line);
        strdupa_in_a_function(line);
        memccpy_of_a_field(line);
        members_of_results(line);
        variable_rows(line);
    }
    return 0;
}
