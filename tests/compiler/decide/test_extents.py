"""Which accesses are proven to lie in their objects, and what is compared before the others (decision 0020)."""

from __future__ import annotations

import pytest

from heterodoop.compiler.device.text import print_device

from ..regions import analyse, codes, mapper

BEFORE = """int a[8], x, i, j; char w[16], t[8], *p; unsigned u; long l; double *heap;
struct s { int n[4]; char text[6]; } r, many[3]; int g[3][4]; static const int table[128] = {1};"""
HELPERS = """static const char *hex = "0123456789abcdef", *const names[] = {"zero", "one", "two"};
static int eq(const char *p, const char *q) { while (*p && *p == *q) { p++; q++; } return *p == *q; }
static int length(const char *s) { int n = 0; while (*s) { s++; n++; } return n; }
static int at(const int *from, int k) { return from[k]; }
static void fill(char *to, const char *from) { while (*from) *to++ = *from++; *to = 0; }
static void one(int *to) { *to = 1; }
static int down(int *to, int k) { to[k] = k; return k > 0 ? down(to, k - 1) : 0; }
static void word(const char *from, char *to, int size)
{ int k = 0; while (*from && *from != ' ') { if (k == size - 1) break; to[k++] = *from++; } to[k] = 0; }"""
START = "x = atoi(line); memset(a, 0, 32); memset(w, 0, 16); memset(t, 0, 8); memset(&r, 0, sizeof r); memset(g, 0, 48);"
CHECKED = ("within(", "inside(", "room for")

PROVEN = [
    "v += hex[x & 15];", "v += length(\"abc\");", "v += hex[0] + hex[16];",
    "const char *d = \"abc\"; v += d[x & 3]; while (*d) d++;",
    "a[0] = a[7];", "a[x & 7]++;", "a[u % 8] = 1;", "i = x % 4; if (i >= 0) a[i] = 2;",
    "if (x >= 0 && x < 8) a[x] = 3;", "for (i = 0; i < 8; i++) a[i] = i;", "for (i = 7; i >= 0; i--) a[i] = i;",
    "i = 0; while (i < 8) a[i++] = 1;", "for (i = 0; i < 3; i++) for (j = 0; j < 4; j++) g[i][j] = 1;",
    "v += table[line[0] & 127];", "v += table[(unsigned char)line[0] / 2];",
    "int c = line[0]; if (c >= 0) v += table[c];", "r.n[x & 3] = 1; r.text[5] = 0;",
    "one(&x); one(a + 3); one(&a[7]); v += x;", "v += at(a, x & 7);", "p = w; *p++ = 'x'; *p = 0;",
    "word(line, w, 16);", "word(line, w, sizeof w);",
    "i = 0; while (line[i] && i < 15) { w[i] = line[i]; i++; } w[i] = 0;", "p = w; while (p < w + 15) *p++ = 'x';",
    'strcpy(w, "fifteen letters");', "strcpy(w, t);", "strncpy(t, line, 8);", 'sprintf(w, "%d:%c", x, line[0]);',
    'snprintf(t, sizeof t, "%s", line);', 'sscanf(line, "%15s %d", w, &x);', "memcpy(a, table, sizeof a);",
    "memset(a, 0, 32);",
    'v += memcmp(line, "abc", 4);', "memcpy(a, r.n, x & 15);", "l = strtol(line, &p, 10);", "p = &w[16]; v += p - w;",
    'v += "0123456789abcdef"[x & 15];',
    "x = x > 7 ? 7 : x < 0 ? 0 : x; a[x] = 1;", "a[x == 3] = 1;", "a[!x]++;", "many[x & 1].n[3] = 1;",
]
CHECKS = {
    "v += hex[x];": "inside(*move_add(hex@constant, x@private: *texts): *texts)",
    "v += names[x & 1][x];": "inside(*move_add(names@constant[x@private & 1], x@private: *texts): *texts)",
    "v += eq(line, \"abc\");": "inside(*q: *texts)",
    "a[x] = 1;": "a@private[within(x@private: 8)] = 1",
    "a[x % 8] = 1;": "within(x@private % 8: 8)",
    "v += table[line[0]];": "table@constant[within((int)line@private[0]: 128)]",
    "v += table[(unsigned char)line[0]];": "within((int)(unsigned char)line@private[0]: 128)",
    "g[x & 3][1] = 1;": "g@private[within(x@private & 3: 3)][1]",
    "r.n[x] = 1;": "r@private.n[within(x@private: 4)]",
    "for (i = 0; i <= 8; i++) a[i] = i;": "within(i@private: 8)",
    "for (i = 0; i < x; i++) a[i] = i;": "within(i@private: 8)",
    "if (x < 8) a[x] = 3;": "within(x@private: 8)",
    "v += at(a, x);": "inside(from[k]: a)",
    "fill(w, line);": "inside(*to++: w)",
    "v += \"abc\"[x];": "\"abc\"[within(x@private: 4)]",
    "p = w + x; *p = 1;": "inside(*p@private: w)",
    "v += (int)heap[x];": "inside(heap@parameter[x@private]: heap@0)",
    "many[x].n[0] = 1;": "within(x@private: 3)",
    "strcpy(t, w);": "room for 0 in 8 bytes",
    "strcpy(t, line);": "room for 0 in 8 bytes",
    "strcat(w, t);": "room for 0 in 16 bytes",
    "strcpy(r.text, t);": "room for 0 in 6 bytes",
    "strcpy(w + x, t);": "room for 0 in w",
    'sprintf(t, "%d", x);': "room for 0 in 8 bytes",
    'snprintf(t, 9, "%s", line);': "room for 0 in 8 bytes",
    'sscanf(line, "%s %d", w, &x);': "{room for 2 in 16 bytes}",
    'sscanf(line, "%d", &a[x]);': "{room for 2 in a}",
    "memset(w, 0, x);": "room for 0 in 16 bytes",
    "memcpy(a, r.n, 20);": "room for 1 in 16 bytes",
    "memcpy(a, r.n, x & 31);": "room for 1 in 16 bytes",
    'v += memcmp(w, "abc", 5);': "room for 1 in 4 bytes",
    "v += memcmp(line, heap, x);": "room for 1 in heap@0",
    "v += down(a, x & 7);": "inside(to[k]: a)",
}


def region(statement: str) -> str:
    """The device IR of a mapper with the statement in its loop."""
    before = f"{BEFORE} i = atoi(\"9\"); heap = malloc(i * sizeof *heap); while (i--) heap[i] = i;"
    body = f"v = 0; {START} many[0] = many[1] = many[2] = r;\n{statement}\nk[0] = 'k'; k[1] = 0; v += (int)heap[3];\n"
    shown = 'printf("%s\\t%d %d %s\\n", k, v, a[1], w);'
    return print_device(analyse(mapper(body + shown, before=before, helpers=HELPERS))[0].facts.device)


@pytest.mark.parametrize("statement", PROVEN)
def test_proven(statement: str) -> None:
    lines = [line for line in region(statement).splitlines() if "heap@parameter[3]" not in line]
    assert not [line for line in lines if any(word in line for word in CHECKED)]


@pytest.mark.parametrize("statement", CHECKS)
def test_checked(statement: str) -> None:
    assert CHECKS[statement] in region(statement)


def test_a_text_of_which_only_the_length_is_wanted_goes_nowhere() -> None:
    assert not codes(mapper('v = snprintf(NULL, 0, "%ld", n); k[0] = \'k\'; k[1] = 0; printf("%s\\t%d\\n", k, v);'))
