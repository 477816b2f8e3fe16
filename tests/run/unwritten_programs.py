"""Map programs made at random that read what a record may not have written. Not a test module.

A program's functions are chosen by a line's first letter, so that each can be tried with records of its own. Variables are
written on some paths, by assignments, loops and library functions, and read on others, whatever was written; the line is
read behind its end as well. No access leaves an array, or the 120 bytes of getline's first buffer.
"""

from __future__ import annotations

import random

HEAD = """#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct part { int number; char text[8]; };
static int column(const char *text, int at) { return text[at]; }
static void put(char *to, int at, char c) { to[at] = c; }
static int find(const char *text, char c, int *at)
{
  for (int i = 0; text[i]; i++)
    if (text[i] == c) { *at = i; return 1; }
  return 0;
}
static char kept[12]; static int counts[6];
"""
WHOLE = ("x = 1;", "memset(a, 1, sizeof a);", "memset(w, 0, sizeof w);", "memset(z, 0, sizeof z);", "memset(own, 0, 20);",
         "memset(kept, 0, 12);", "memset(&s, 0, sizeof s);", "for (i = 0; i < 6; i++) counts[i] = i;",
         "for (i = 0; i < 4; i++) sum[i] = 1;")
LENGTHS = (0, 1, 2, 3, 5, 8, 13, 30)


class Function:
    def __init__(self, rng: random.Random, number: int) -> None:
        self._rng, self._number, self._serial = rng, number, 0

    def text(self) -> str:
        parts = [self.write() for _ in range(self._rng.randrange(3, 7))]
        parts = [p for p in WHOLE if self._rng.random() < 0.7] + parts
        parts += [self.read() for _ in range(self._rng.randrange(1, 5))]
        if self._rng.random() < 0.3:
            self._rng.shuffle(parts)
        body = "\n  ".join(self.sometimes(p) if self._rng.random() < 0.25 else p for p in parts)
        return (
            f"static void f{self._number}(char *line, int n, char *own, int *sum)\n{{\n"
            "  char w[16], z[80], *c; int a[4], x, y = 0, i, j = 0; struct part s, t;\n"
            "  (void)w; (void)z; (void)a; (void)x; (void)i; (void)j; (void)s; (void)t; c = line; (void)c; \n"
            "  own[19] = kept[11] = 0; counts[5] = sum[3] = n;\n"
            f'  {body}\n  printf("f{self._number}\\t%d\\n", y);\n}}\n'
        )

    def pick(self, *choices: str) -> str:
        return self._rng.choice(choices)

    def chars(self) -> tuple[str, int]:
        return self._rng.choice((("w", 16), ("z", 80), ("kept", 12), ("own", 20), ("s.text", 8)))

    def when(self) -> str:
        return self.pick("n & 1", "n > 3", "n < 9", "line[1] == 'x'", "n % 3", "n > 100", "n >= 0", "isdigit(line[1])")

    def sometimes(self, part: str) -> str:
        other = f" else {{ {self.write()} }}" if self._rng.random() < 0.4 else ""
        return f"if ({self.when()}) {{ {part} }}{other}"

    def write(self) -> str:
        (b, size), k = self.chars(), self._rng.randrange(0, 8)
        return self.pick(
            "x = n;", "x = line[0];", f"a[{k & 3}] = n;", "a[n & 3] = 7;",
            "for (i = 0; i < (n & 3); i++) a[i] = i;",
            "for (i = 0; i < 4; i++) a[i] = line[0] + i;", "memset(a, 0, sizeof a);", f"{b}[{k}] = 'k';",
            f"{b}[n & 7] = 'v';",
            f"{b}[{k}] = 0;", f"strncpy({b}, line, {k});", f"strncpy({b}, line, n & 7);", f"memcpy({b} + 1, line, n & 3);",
            f'strcpy({b}, "ab");', f"memset({b} + (n & 3), 'm', 2);", f"memset({b}, 0, {size});",
            f'snprintf({b}, {size}, "%d-%s", n, "q");', f'snprintf({b}, 1 + (n & 3), "%s", line);',
            f"for (j = 0; j < 7 && line[j] && line[j] != '\\n'; j++) {b}[j] = line[j]; {b}[j] = 0;",
            f"for (j = 0; j < 7 && line[j]; j++) {b}[j] = line[j]; if (n & 1) {b}[j] = 0;",
            f"for (i = j = 0; i < n && j < 7; i++) if (line[i] > 'a') {b}[j++] = line[i]; {b}[j] = 0;",
            f"c = {b}; while (c < {b} + (n & 3)) *c++ = 'p'; *c = 0; c = line;",
            'sscanf(line + 1, "%d", &x);', 'if (sscanf(line + 1, "%d %d", &x, &y) < 2) y = 1;', 'sscanf(line, "%7s", w);',
            'sscanf(line + 1, "%d%n", &x, &a[1]);', "s.number = n;", "t.number = 1; t.text[0] = 0; s = t;",
            "s = (struct part){n, \"st\"};", f"put({b}, n & 3, 'h');", f"put({b}, {k}, 0);", "find(line, 'x', &x);",
            "if (!find(line, 'x', &x)) x = -1;", "counts[n % 6] = n;", "counts[0] = 1;", "sum[n & 3] = n;", "*sum = 1;",
            "sum[0] += n > 3 ? 1 : 0;" if self._rng.random() < 0.05 else "sum[1] = 2;",
            f"{{ char *q = n & 1 ? {b} : z; q[n & 3] = 'o'; }}", "c = strchr(line, 'x'); if (!c) c = line;",
            f"i = 0; while (i < 7 && line[i] > ' ') {{ {b}[i] = line[i]; i++; }} {b}[i] = 0;",
            f"for (i = 7; i > 0; i--) {b}[i] = 'r';", f"i = 3; {b}[i++] = 'a'; {b}[i++] = 'b'; {b}[i] = 0;",
            "c = line; while (*c && *c != 'x') c++;", "if (n > 2) line[n - 2] = 'L';", "if (n > 1) line[n - 1] = 0;",
        )

    def read(self) -> str:
        (b, size), k = self.chars(), self._rng.randrange(0, 8)
        far = self.pick(str(k), str(k + 20), "n", "n + 1", "n + 2", "n - 1 + (n == 0)", "n / 2", "(n & 7)")
        return self.pick(
            "y += x;", "if (x > 3) y++;", f"y += a[{k & 3}];", "y += a[n & 3];", "for (i = 0; i < (n & 3); i++) y += a[i];",
            f"y += {b}[{k}];", f"y += {b}[n & 7];", f'printf("s\\t%s\\n", {b});', f'printf("p\\t%.3s\\n", {b});',
            f'printf("p\\t%.*s\\n", n & 3, {b});', f"y += (int)strlen({b});", f'y += strcmp({b}, "ab") > 0;',
            f'y += strncmp({b}, "am", 2) == 0;', f"y += memchr({b}, 'm', {min(size, k + 1)}) != NULL;",
            f"y += memcmp({b}, line, n & 3) == 0;", f"y += atoi({b});", f'fwrite({b}, 1, n & 3, stdout); puts("\\tfw");',
            f"y += strchr({b}, 'v') != NULL;", f"for (i = 0; {b}[i] && i < 5; i++) y += {b}[i];",
            f"c = {b}; y += c[n & 3]; c = line;", "t = s; y += t.number;", "y += s.number;", "y += counts[n % 6];",
            "y += counts[1];", "y += sum[n & 3];", "y += sum[0];", f"y += line[{far}];", f"y += column(line, {far});",
            f"c = line + ({far}); y += *c; c = line;", f'printf("l\\t%.*s\\n", n & 3, line + ({k}));',
            f"y += memchr(line, 'x', {k + 10}) != NULL;", f"memcpy(z, line, {k + 8}); y += z[1];",
            f"y += *((short *)line + {k});", "y += (int)strlen(c);", "y += *c;", "for (i = 0; line[i]; i++) y += line[i];",
            "for (i = 0; i < n; i++) y += line[i];", "while (*c) y += *c++; c = line;",
            f"y += strspn(line + {k}, \"abc\");", f"for (i = 0; i < {k + 6}; i++) y += line[i];",
            f"y += column({b}, {k});", "for (i = n; i > 0; i--) y += line[i - 1];",
            "i = n / 2; while (i < n && line[i] != 'x') i++; y += line[i];",
            "i = n & 7; j = i + 2; if (j < n) y += line[i] + line[j];",
            f"i = {k}; y += line[i]; i -= 3; if (i >= 0) y += line[i];",
            "for (i = n - 1; i >= 0 && line[i] != 'a'; i--) ; y += i;",
            f"i = 7; if (n & 1) y += {b}[i]; i -= 5; y += {b}[i];",
            "c = strchr(line, 'x'); if (c) { c++; y += *c; c += 2; y += *c; } c = line;",
            "{ unsigned u = (unsigned)n - 3; if (u < 5) y += line[u]; }",
            "i = find(line, 'a', &x) ? x : n; y += line[i]; y += line[i + 1];",
            f"i = 0; while ({b}[i] && i < 7) i++; y += i; y += {b}[i / 2];",
            "{ char *q, m[40]; strncpy(m, line, 39); m[39] = 0;"
            " for (q = strtok(m, \" x\\n\"); q; q = strtok(NULL, \" x\\n\")) y += *q; }",
        )


def program(seed: int, functions: int) -> str:
    rng = random.Random(seed)
    texts = "".join(Function(rng, number).text() for number in range(functions))
    calls = "".join(f"    case '{chr(65 + number)}': f{number}(line, n, own, sum); break;\n" for number in range(functions))
    return (
        f"{HEAD}{texts}int main(void)\n{{\n  char *line = NULL, own[20]; size_t cap = 0; int n, sum[4] = {{0}};\n"
        "#pragma mapreduce mapper key(own) value(n) keylength(100)\n"
        "  while ((n = (int)getline(&line, &cap, stdin)) != -1) {\n    switch (line[0]) {\n"
        f"{calls}    }}\n  }}\n  return 0;\n}}\n"
    )


def text(rng: random.Random, number: int) -> bytes:
    """A few records for one function: mostly short, and of lengths that rise or fall."""
    lengths = [rng.choice(LENGTHS) for _ in range(rng.randrange(1, 6))]
    if rng.random() < 0.3:
        lengths.sort(reverse=rng.random() < 0.5)
    lines = ("".join(rng.choice("ab x19mv-") for _ in range(length)) for length in lengths)
    return "".join(f"{chr(65 + number)}{line}\n" for line in lines).encode()
