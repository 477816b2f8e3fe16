"""A map program with arrays of variable length and alloca, each line by the function that its first letter names. Not a test
module.

EQUAL  what a device and a host kernel do as the filter does. LEFT: what they leave to it -> why, on both.
"""

from __future__ import annotations

HEAD = r"""#include <alloca.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int reversed(const char *word, int n)
{
    char other[n + 1]; int i;
    for (i = 0; i < n; i++) other[i] = word[n - 1 - i];
    other[n] = 0;
    if (strcmp(word, other) == 0) return (int)sizeof other;
    return other[0];
}
static int distance(const char *a, int n, const char *b, int m)
{
    int before[m + 1], row[m + 1], i, j;
    for (j = 0; j <= m; j++) before[j] = j;
    for (i = 1; i <= n; i++) {
        row[0] = i;
        for (j = 1; j <= m; j++) {
            int most = before[j - 1] + (a[i - 1] != b[j - 1]);
            if (before[j] + 1 < most) most = before[j] + 1;
            if (row[j - 1] + 1 < most) most = row[j - 1] + 1;
            row[j] = most;
        }
        memcpy(before, row, sizeof row);
    }
    return before[m];
}
static long squares(int n)
{
    long *all = alloca(n * sizeof *all), sum = 0; int i;
    for (i = 0; i < n; i++) all[i] = (long)i * i;
    for (i = 0; i < n; i++) sum += all[i];
    return sum;
}
static char *gone(int n) { char *p = alloca(n + 8); memset(p, 1, n + 8); return n > 0 ? p : NULL; }
static int depth(int n) { char level[n + 1]; memset(level, n, n + 1); return n > 0 ? depth(n - 1) + level[n] : level[0]; }
"""

EQUAL = {
    "an array as long as its line": r"""
    char copy[n + 1]; int i; for (i = 0; i < n; i++) copy[i] = line[i] > ' ' ? line[i] : '_';
    copy[n] = 0; copy[n - 1] = 0; printf("%s\t%d\n", copy, (int)sizeof copy);""",
    "arrays in a function": r"""
    char *tok; for (tok = strtok(line, " \n"); tok; tok = strtok(NULL, " \n"))
        printf("%s\t%d\n", tok, reversed(tok, (int)strlen(tok)));""",
    "rows of a distance": r"""
    char *a = strtok(line + 2, " \n"), *b = a ? strtok(NULL, " \n") : NULL;
    printf("k\t%d\n", b ? distance(a, (int)strlen(a), b, (int)strlen(b)) : -1);""",
    "an array in each round, some of them left early": r"""
    int i, sum = 0;
    for (i = 1; i < 9; i++) {
        int part[i]; memset(part, 0, sizeof part); part[i - 1] = line[i % n];
        if (i == 3) continue;
        sum += part[i - 1] * (int)(sizeof part / sizeof *part);
        if (i == 7) break;
    }
    printf("k\t%d\n", sum);""",
    "alloca in a function": r"""
    printf("k\t%ld %ld\n", squares(n), squares(3));""",
    "arrays of functions that call themselves": r"""
    printf("k\t%d\n", depth(n % 5));""",
}

LEFT = {
    "an element that nobody wrote": ("has not written", "both", r"""
    char a[n + 8]; memset(a, 1, n); printf("k\t%d\n", a[n + 2] * 0);"""),
    "an element behind the end": ("has not written", "both", r"""
    char a[n]; memset(a, 1, n); printf("k\t%d\n", a[n] * 0);"""),
    "an array whose block is left": ("outside of an array", "both", r"""
    char *p = line; if (n > 2) { char a[n]; memset(a, 1, n); p = a; } printf("k\t%d\n", p[0] * 0);"""),
    "what a function that has ended had": ("has not written", "both", r"""
    char *p = gone(n); printf("k\t%d\n", p ? p[3] * 0 : 0);"""),
}


def program() -> str:
    """Lines of a function begin with its letter: those of EQUAL from 'a' on, then those of LEFT from 'A' on."""
    bodies = {**{chr(97 + i): body for i, body in enumerate(EQUAL.values())},
              **{chr(65 + i): body for i, (_, _, body) in enumerate(LEFT.values())}}
    functions = "".join(f"static void f_{c}(char *line, int n)\n{{{body}\n}}\n" for c, body in bodies.items() if c != "a")
    cases = "".join(f"        case '{c}': f_{c}(line, n); break;\n" for c in bodies if c != "a")
    return f"""{HEAD}{functions}
int main(void)
{{
    char *line = NULL; size_t size = 0; int n;
#pragma mapreduce mapper key(line) value(n) keylength(64)
    while ((n = getline(&line, &size, stdin)) != -1) {{
        if (line[0] == 'a') {{{EQUAL["an array as long as its line"]}
            continue;
        }}
        switch (line[0]) {{
{cases}        }}
    }}
    return 0;
}}
"""
