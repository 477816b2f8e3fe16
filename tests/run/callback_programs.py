"""A map program that sorts, searches and calls through pointers, each line by the function that its first letter names.
Not a test module.

EQUAL  what a device and a host kernel do as the filter does. LEFT: what they leave to it -> why (both, or the device alone).
"""

from __future__ import annotations

HEAD = r"""#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct word { char text[12]; int n; char tail; };
struct wide { char fill[60]; int n; long rest[4]; };
struct command { const char *name; int (*run)(int, int); };
static int letter(const void *a, const void *b) { return *(const char *)a - *(const char *)b; }
static int number(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}
static int odd(const void *a, const void *b) { return *(const int *)a % 7 > *(const int *)b % 7; }
static int none(const void *a, const void *b) { return (*(const int *)a * 31 + *(const int *)b * 17) % 5 - 2; }
static int by_n(const struct word *a, const struct word *b) { return b->n - a->n; }
static int by_wide(const void *a, const void *b) { return ((const struct wide *)a)->n - ((const struct wide *)b)->n; }
static int text(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }
static int named(const void *key, const void *b) { return strcmp(key, *(const char *const *)b); }
static int command(const void *key, const void *b) { return strcmp(key, ((const struct command *)b)->name); }
static int add(int a, int b) { return a + b; }
static int sub(int a, int b) { return a - b; }
static int mul(int a, int b) { return a * b; }
static int (*const ops[])(int, int) = {add, sub, mul};
static const struct command commands[] = {{"add", add}, {"mul", mul}, {"sub", sub}};
static const char *const months[] = {"apr", "aug", "dec", "feb", "jan", "jul", "jun", "mar", "may", "nov", "oct", "sep"};
static const int primes[] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37};
static int marks[40];
static int (*chosen)(int, int);
static int apply(int (*f)(int, int), int a, int b) { return f ? f(a, b) : -1; }
static int (*pick(char c))(int, int) { return c == 'a' ? add : c == 't' ? mul : NULL; }
static void each(char *s, int (*f)(int)) { for (; *s; s++) *s = (char)f((unsigned char)*s); }
"""

EQUAL = {
    "the letters of a text": r"""
    char k[200]; strcpy(k, line); qsort(k, n, 1, letter); k[n] = 0; printf("%s\t%d\n", k + 1, n);""",
    "the letters of the line": r"""
    qsort(line, n - 1, 1, letter); printf("%s", line);""",
    "numbers": r"""
    int a[64], m = 0, i; for (i = 0; i < n && m < 64; i++) a[m++] = line[i] * 7 % 31 - 9;
    qsort(a, m, sizeof *a, number); for (i = 0; i < m; i++) printf("%d\t%d\n", a[i], i);""",
    "numbers by a comparator that is no order": r"""
    int a[64], b[64], m = 0, i; for (i = 0; i < n && m < 64; i++, m++) a[m] = b[m] = line[i] * 7 % 31;
    qsort(a, m, sizeof *a, odd); qsort(b, m, sizeof *b, none);
    for (i = 0; i < m; i++) printf("%d\t%d\n", a[i], b[i]);""",
    "structs with ties, written in part": r"""
    struct word w[32]; char *tok; int m = 0, i;
    for (tok = strtok(line, " \n"); tok && m < 32; tok = strtok(NULL, " \n"), m++) {
        strncpy(w[m].text, tok, 11); w[m].text[11] = 0; w[m].n = (int)strlen(tok) % 3;
        if (m & 1) w[m].tail = 'o';
    }
    qsort(w, m, sizeof *w, (int (*)(const void *, const void *))by_n);
    for (i = 0; i < m; i++) printf("%s\t%d\n", w[i].text, w[i].n);""",
    "large elements": r"""
    struct wide w[9]; int i; memset(w, 0, sizeof w);
    for (i = 0; i < 9; i++) { w[i].n = line[i % n] % 4; w[i].fill[3] = (char)('a' + i); w[i].rest[3] = i; }
    qsort(w, 9, sizeof *w, by_wide); for (i = 0; i < 9; i++) printf("%s\t%d %ld\n", w[i].fill + 3, w[i].n, w[i].rest[3]);""",
    "pointers to words": r"""
    char *words[64], *tok; int m = 0, i;
    for (tok = strtok(line, " \n"); tok && m < 64; tok = strtok(NULL, " \n")) words[m++] = tok;
    qsort(words, m, sizeof *words, text); for (i = 0; i < m; i++) printf("%s\t%d\n", words[i], i);""",
    "what the record has allocated": r"""
    char **words = malloc(8 * sizeof *words), *tok; int m = 0, i;
    for (tok = strtok(line, " \n"); tok && m < 8; tok = strtok(NULL, " \n")) words[m++] = strdup(tok);
    qsort(words, m, sizeof *words, text);
    for (i = 0; i < m; i++) { printf("%s\t%d\n", words[i], i); free(words[i]); }
    free(words);""",
    "texts by strcmp itself": r"""
    char words[16][12]; char *tok; int m = 0, i; memset(words, 0, sizeof words);
    for (tok = strtok(line, " \n"); tok && m < 16; tok = strtok(NULL, " \n")) strncpy(words[m++], tok, 11);
    qsort(words, m, sizeof *words, (int (*)(const void *, const void *))strcmp);
    for (i = 0; i < m; i++) printf("%s\t%d\n", words[i], i);""",
    "searches in tables": r"""
    int key = n; const int *at = bsearch(&key, primes, sizeof primes / sizeof *primes, sizeof *primes, number);
    char *tok = strtok(line + 2, " \n"); const char *const *month;
    month = tok ? bsearch(tok, months, 12, sizeof *months, named) : NULL;
    printf("%d\t%d %s\n", n, at ? (int)(at - primes) : -1, month ? *month : "none");""",
    "searches in what was read before the loop": r"""
    int key = n * 3; const int *at = bsearch(&key, marks, 40, sizeof *marks, number);
    printf("%d\t%d\n", key, at ? *at : -1);""",
    "a table of functions": r"""
    printf("%d\t%d\n", n, ops[n % 3](n, 3));""",
    "functions by their names": r"""
    char *tok = strtok(line + 2, " \n");
    const struct command *c = tok ? bsearch(tok, commands, 3, sizeof *commands, command) : NULL;
    printf("%s\t%d\n", c ? c->name : "none", c ? c->run(n, 2) : 0);""",
    "functions that are handed on and compared": r"""
    int (*f)(int, int) = pick(line[2]), (*g)(int, int) = n & 1 ? sub : f;
    printf("%d\t%d %d %d\n", apply(f, n, 4), f == add, g == f, apply(g, 1, 2));""",
    "functions of the library": r"""
    each(line + 2, n & 1 ? toupper : tolower); printf("%s", line);""",
    "a function that was chosen before the loop": r"""
    printf("%d\t%d %d\n", chosen(n, 5), chosen == mul, chosen == add);""",
}

LEFT = {
    "elements that nobody wrote": ("has not written", "both", r"""
    int a[9], i; for (i = 0; i < 8; i++) a[i] = i; qsort(a, n > 3 ? 9 : 8, sizeof *a, number); printf("k\t%d\n", n);"""),
    "more elements than there are": ("outside of an array", "both", r"""
    static int room[20]; int i; for (i = 0; i < 20; i++) room[i] = n - i;
    qsort(room + 4, n > 3 ? 17 : 16, sizeof *room, number); printf("k\t%d\n", room[4]);"""),
    "more elements than there is room to sort": ("allocates more memory", "device", r"""
    int a[9000], i; for (i = 0; i < 9000; i++) a[i] = i * n % 9001; qsort(a, 9000, sizeof *a, number);
    printf("%d\t%d\n", a[0], a[8999]);"""),
}


def program() -> str:
    """Lines of a function begin with its letter: those of EQUAL from 'a' on, then those of LEFT from 'A' on."""
    bodies = {**{chr(97 + i): body for i, body in enumerate(EQUAL.values())},
              **{chr(65 + i): body for i, (_, _, body) in enumerate(LEFT.values())}}
    functions = "".join(f"static void f_{c}(char *line, int n)\n{{{body}\n}}\n" for c, body in bodies.items())
    cases = "".join(f"        case '{c}': f_{c}(line, n); break;\n" for c in bodies)
    return f"""{HEAD}{functions}
int main(int argc, char **argv)
{{
    char *line = NULL; size_t size = 0; int n, i;
    for (i = 0; i < 40; i++) marks[i] = i * 5;
    qsort(marks, 40, sizeof *marks, number);
    chosen = argc > 1 && argv[1][0] == 's' ? sub : mul;
#pragma mapreduce mapper key(line) value(n) keylength(64)
    while ((n = getline(&line, &size, stdin)) != -1) {{
        switch (line[0]) {{
{cases}        }}
    }}
    return 0;
}}
"""
