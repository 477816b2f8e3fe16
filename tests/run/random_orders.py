"""Expressions made at random that mix effects and reads, one function each, on a line of its own. Not a test module.

Every function is defined C but for the order in which its expression's parts are evaluated; about half of them depend on it.
"""

from __future__ import annotations

import random

HEAD = """#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct row { int n, m; int at[4]; };
static int g, h;
static int next(char **p) { int x = (int)strtol(*p, p, 10); if (**p == ',') ++*p; return x; }
static int bump(int x) { g += x; return g ^ 5; }
static int peek(int x) { return h + x; }
static int set(int *to, int x) { *to = x * 2 + *to; return *to + 1; }
static int twice(int x) { return x * 2; }
static int pair(int x, int y) { return x * 8 + y; }
static int say(int x) { printf("said\\t%d\\n", x); return x & 7; }
static int count(struct row *r) { return r->at[r->n++ & 3]++; }
static int digits(const char *s) { return (int)strlen(s); }
"""
PIECES = (
    "i", "j", "g", "h", "i++", "--j", "a[i & 3]", "a[0]", "a[1]++", "a[j & 3]--", "w.n++", "w.m", "w.at[w.m & 3]",
    "next(&p)", "next(&q)", "(*p++ - '0')", "(*q++ & 15)", "*p", "bump(3)", "bump(i)", "peek(2)", "peek(j)", "set(&i, 3)",
    "set(&j, i)", "set(a, 1)", "twice(j)", "say(i)", "count(&w)", "count(v)", "v->m++", "u->n", "atoi(strtok(s, \",\"))",
    "digits(s)",
    "digits(p)", "(h = 3)", "(i = j)", "(w.m += 2)", "snprintf(s, 8, \"%d\", i)", "(p == q)", "7", "n", "(int)(p - t)",
)
BINARY = ("+", "-", "*", "^", "<", "==", "&", "|")


def expression(rng: random.Random, depth: int) -> str:
    """A value of type int."""
    if depth == 0 or rng.random() < 0.15:
        return rng.choice(PIECES)
    one, two = expression(rng, depth - 1), expression(rng, depth - 1)
    return rng.choice((
        f"({one} {rng.choice(BINARY)} {two})", f"({one} {rng.choice(BINARY)} {two})", f"pair({one}, {two})",
        f"({one} {rng.choice(('&&', '||'))} {two})", f"({one}, {two})", f"({one} ? {two} : {rng.choice(PIECES)})",
        f"(a[{one} & 3] {rng.choice(('=', '+=', '^='))} {two})", f"({rng.choice(('i', 'j', 'g', 'w.n'))} -= {two})",
        f"((struct row){{{one}, {two}, {{0}}}}).m", f"twice({one})", f"a[{one} & 3]",
    ))


def function(seed: int, number: int) -> str:
    """`static void fK(int n)` on one line: an expression, or the arguments of a call, then all that it may have changed."""
    rng = random.Random(seed * 1000 + number)
    one, two = expression(rng, 2), expression(rng, 1)
    made = rng.choice((
        f"x = {one};", f"x += {one};", f"x = pair({one}, {two});", f"int b[2] = {{{one}, {two}}}; x = b[0] ^ b[1];",
        f'printf("e{number}\\t%d %d\\n", {one}, {two});',
    ))
    parts = (
        f"static void f{number}(int n) {{ char t[32] = \"12,34,5,678,9,10,11,12\", s[16] = \"3,4,5,6\", *p = t, *q = t + 3;",
        "int i = n & 3, j = 2, x = 1, a[4] = {5, n & 7, 3, 8};",
        "struct row w = {n & 1, 2, {4, 3, 2, 1}}, o = w, *v = &o, *u = &w; g = n; h = 4;", made,
        f'printf("f{number}\\t%d %d %d %d %d %d\\n", x, i, j, g, h, a[0] ^ a[1] * 3 ^ a[2] * 5 ^ a[3]);',
        f'printf("g{number}\\t%d %d %d %d %s\\n", w.n, w.m, o.n, o.at[0], s);',
        'printf("p\\t%s %s %d\\n", p, q, u->m + v->m); }\n',
    )
    return " ".join(parts)


def program(functions: list[str]) -> str:
    """A map whose record loop calls every function with the line's length; the functions begin after HEAD."""
    names = [text.split("(")[0].split()[-1] for text in functions]
    calls = " ".join(f"{name}((int)n);" for name in names)
    return (
        f"{HEAD}{''.join(functions)}int main(void)\n{{\n    char *line = NULL, k[32]; size_t cap = 0; ssize_t n; int v;\n"
        "#pragma mapreduce mapper key(k) value(v) keylength(32)\n"
        "    while ((n = getline(&line, &cap, stdin)) != -1) {\n"
        f"        {calls}\n"
        "        k[0] = 'k'; k[1] = 0; v = (int)n;\n        printf(\"%s\\t%d\\n\", k, v);\n    }\n    return 0;\n}\n"
    )
