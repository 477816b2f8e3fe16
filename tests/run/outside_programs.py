"""Map programs made at random whose indexes, pointers and library calls may miss their arrays. Not a test module.

A program's functions are chosen by a line's first letter; what follows is a number and a word. All arrays are static, with
wide ones around them, so that the filter mostly lives on where it reaches outside, and does the same in every run.
"""

from __future__ import annotations

import random

HEAD = """#undef _FORTIFY_SOURCE
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct part { int n[4]; char text[8]; };
static char before[512];
static char w[16], z[24];
static int a[8], b[5];
static struct part s[3];
static int grid[3][4];
static char behind[512];
static const int table[10] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3};
static const char *digits = "0123456789", *const names[] = {"zero", "one", "two", "three"};
static int eq(const char *p, const char *q) { while (*p && *p == *q) { p++; q++; } return *p == *q; }
static int get(const int *from, int at) { return from[at]; }
static void put(char *to, int at, char c) { to[at] = c; }
static char *copy(char *to, const char *from) { while (*from && *from != '\\n') *to++ = *from++; *to = 0; return to; }
static int sum(const int *from, int n) { int y = 0; for (const int *p = from; p < from + n; p++) y += *p; return y; }
static struct part *nth(struct part *of, int at) { return of + at; }
"""
FRESH = """  memset(w, 0, sizeof w); memset(z, 0, sizeof z); memset(a, 0, sizeof a); memset(b, 0, sizeof b);
  memset(s, 0, sizeof s); memset(grid, 0, sizeof grid);
"""
ARRAYS = (("w", 16), ("z", 24), ("a", 8), ("b", 5), ("s[1].n", 4), ("s[2].text", 8), ("grid[1]", 4))
TEXTS = ("w", "z", "s[0].text")
WORDS = ("", "x", "ab", "word", "sixteen-letters", "seventeen-letters", "a-word-of-more-than-twenty")


class Function:
    def __init__(self, rng: random.Random, number: int) -> None:
        self._rng, self._number = rng, number

    def text(self) -> str:
        kinds = (self.read, self.write, self.library, self.walk)
        parts = [self._rng.choice(kinds)() for _ in range(self._rng.randrange(2, 7))]
        shown = self._rng.choice(TEXTS)
        return (
            f"static void f{self._number}(char *line, int n, char *word)\n{{\n"
            "  int y = 0, i; char *p = w, *q = word; const int *r = a; (void)p; (void)q; (void)r; (void)i;\n"
            f"{FRESH}  " + "\n  ".join(parts) +
            f'\n  printf("f{self._number}\\t%d %d %.*s\\n", y, a[n & 7], (int)sizeof {shown} - 1, {shown});\n}}\n')

    def pick(self, *choices: str) -> str:
        return self._rng.choice(choices)

    def index(self, length: int) -> str:
        return "(" + self.pick(
            "n", "n", "n - 1", f"n % {length}", f"n & {length - 1}", f"(unsigned)n % {length}", "word[0] - 'a'",
            f"(unsigned char)line[0] % {length}", str(self._rng.randrange(length)), f"(n < 0 ? 0 : n) % {length}",
            f"n > {length - 1} ? {length - 1} : n", "(int)strlen(word)", f"(n + {length}) / 2") + ")"

    def element(self) -> str:
        name, length = self._rng.choice(ARRAYS)
        return f"{name}[{self.index(length)}]"

    def read(self) -> str:
        return self.pick(
            f"y += {self.element()};", f"y += table[{self.index(10)}];", f"y += get(a, {self.index(8)});",
            f"y += get(table, {self.index(10)});", f"y += *(b + ({self.index(5)}));", f"y += grid[{self.index(3)}][1];",
            f"y += s[{self.index(3)}].n[1];", f"y += nth(s, {self.index(3)})->n[2];", f"r = b + 1; y += r[{self.index(4)}];",
            f"y += sum(a, {self.index(9)});", f'y += "literal"[{self.index(8)}];',
            f"y += digits[{self.index(11)}];", f"y += names[n & 3][{self.index(4)}];", "y += eq(names[n & 3], word);",
            f"y += *(names[n & 1] + {self.index(4)});",
            f"if (n >= 0 && n < 8) y += a[n] + b[{self.index(5)}];")

    def write(self) -> str:
        return self.pick(
            f"{self.element()} = y + 1;", f"{self.element()}++;", f"put(w, {self.index(16)}, 'p');",
            f"p = z + ({self.index(24)}); *p = 'z';", f"nth(s, {self.index(3)})->n[0] += 2;",
            f"for (i = 0; i < {self.index(9)}; i++) a[i] = i;", f"for (i = 0; i < 5; i++) b[i] += a[{self.index(8)}];",
            f"grid[{self.index(3)}][{self.index(4)}] = 7;", f"s[{self.index(3)}] = s[{self.index(3)}];")

    def library(self) -> str:
        to = self._rng.choice(TEXTS)
        return self.pick(
            f"strcpy({to}, word);", f"strncpy({to}, word, {self.pick('8', '15', '30')});", f"strcat({to}, word);",
            f'sprintf({to}, "%d-%s", n, word);', f'snprintf({to}, {self.pick("8", "40")}, "%s%d", word, n);',
            f'sscanf(word, "%s", {to});', f'sscanf(word, "%6s", {to});',
            f'sscanf(line, "%*c %d %[a-z]", &a[{self.index(8)}], {to});', f"memset({to}, 'm', n & 31);",
            f"memcpy(a, table, {self.pick('4', 'sizeof a', 'sizeof table')});",
            f"memmove({to}, {to} + 1, {self.pick('3', '7', '20')});", "y += strtol(word, &q, 16); y += q - word;",
            f"strncat({to}, word, {self.pick('3', '20')});", f"y += strlen({to});")

    def walk(self) -> str:
        return self.pick(
            "p = copy(w, word); y += p - w;", "p = z; while (*q && *q != 'e') *p++ = toupper(*q++);",
            f"p = w; p += {self.index(16)}; y += *p;", f"for (p = w; *p; p++) y += *p; p[{self.index(3)}] = 'e';",
            "p = strchr(z, 0); *p++ = 'k'; *p = 0;", f"r += {self.index(8)}; y += r[-1];",
            "i = 0; while (word[i] && i < 15) { w[i] = word[i]; i++; } w[i] = 0;",
            "i = 0; do w[i] = 'd'; while (++i < n);", f"copy(s[{self.index(3)}].text, word);")


def program(seed: int, functions: int) -> str:
    rng = random.Random(seed)
    found = [Function(rng, number).text() for number in range(functions)]
    cases = " ".join(f"case {chr(97 + n)!r}: f{n}(line, atoi(line + 1), word); break;" for n in range(functions))
    return (
        f"{HEAD}{''.join(found)}int main(void)\n{{\n  char *line = NULL; size_t size = 0; char k[2], word[40]; int v;\n"
        "  (void)before; (void)behind;\n"
        "  before[0] = behind[0] = 0;\n"
        "#pragma mapreduce mapper key(k) value(v)\n  while (getline(&line, &size, stdin) != -1) {\n"
        '    word[0] = 0; sscanf(line, "%*c %*d %39s", word);\n'
        f"    switch (line[0]) {{ {cases} }}\n  }}\n  return 0;\n}}\n")


def text(rng: random.Random, number: int) -> bytes:
    """Records of one function."""
    low, high, words = (0, 5, 4) if rng.random() < 0.5 else (-6, 26, len(WORDS))
    numbers = [rng.randrange(low, high) for _ in range(rng.randrange(1, 6))]
    return "".join(f"{chr(97 + number)} {n} {rng.choice(WORDS[:words])}\n" for n in numbers).encode()
