"""Map programs made at random: several functions of a record each, so that one build tests many. Not a test module.

Every program is defined C on every input: variables are written first, indexes are masked, divisors are not zero, loops
are short, a double becomes an integer only where it fits. Signed overflow wraps (the filters are built so).
"""

from __future__ import annotations

import random

TYPES = ("int", "unsigned", "long", "unsigned long", "short", "unsigned char", "signed char", "char", "long long")
FORMATS = {
    "int": "%d", "unsigned": "%u", "long": "%ld", "unsigned long": "%lu", "short": "%hd", "unsigned char": "%hhu",
    "signed char": "%hhd", "char": "%hhd", "long long": "%lld",
}
CONSTANTS = ("0", "1", "2", "-1", "7", "255", "0x80", "65535", "2147483647", "-2147483647 - 1", "4294967295u", "1L << 40",
             "'a'", "'\\t'", "0xffL", "3ul", "(unsigned char)200", "(short)-3")
BINARY = ("+", "-", "*", "&", "|", "^", "<", "<=", "==", "!=", ">", ">=", "&&", "||")
DOUBLES = ("0.5", "-1.25", "3.0", "1e10", "(double)n")
TEXTS = ("abc", "a\\tb", "", "x%%y", "\\\\", "\\\"q\\\"")
HEAD = """#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct point { int x; long y; char name[8]; };
static const int table[8] = {3, -1, 4, 1, -5, 9, 2, 6};
static int twice(int x) { return x * 2; }
static unsigned mix(unsigned a, long b) { return (a << 3) ^ (unsigned)b; }
static long larger(long a, long b) { return a > b ? a : b; }
static void add(struct point *to, int x, long y) { to->x += x; to->y -= y; }
static int depth(int n) { return n <= 0 ? 0 : 1 + depth(n - 1); }
"""


class Function:
    """Text of one function `static void fK(char *line, int n)`: its statements read and change the record and locals."""

    def __init__(self, rng: random.Random, number: int) -> None:
        self._rng = rng
        self._number = number
        self._names = {f"v{i}": rng.choice(TYPES) for i in range(rng.randrange(3, 7))}
        self._loops: list[str] = []
        self._labels = 0
        self._open: list[str] = []

    def text(self) -> str:
        first = "".join(f"  {kind} {name} = {self.leaf({})};\n" for name, kind in self._names.items())
        body = "".join(f"  {self.statement(2)}\n" for _ in range(self._rng.randrange(4, 9)))
        again = f"  if (++rounds < 3 && {self.value(1)}) goto again;\n" if self._rng.random() < 0.3 else ""
        begin = "  int rounds = 0;\n  again:;\n" if again else ""
        shown = "".join(self.show(name) for name in self._names)
        return (
            f"static void f{self._number}(char *line, int n)\n{{\n{first}"
            f"  int t[8] = {{{self.leaf({})}}}; char w[16] = \"w\"; double d = {self._rng.choice(DOUBLES)};\n"
            f"  struct point p = {{1, 2, \"pt\"}}; char *c = line; int i, j; (void)i; (void)j;\n"
            f"{begin}{body}{again}{shown}"
            f"  printf(\"f{self._number}.w\\t%s %d %ld %.3f %td\\n\", w, p.x + t[3], p.y, d, c - line);\n}}\n"
        )

    def show(self, name: str) -> str:
        return f'  printf("f{self._number}.{name}\\t{FORMATS[self._names[name]]}\\n", {name});\n'

    def leaf(self, names: dict[str, str] | None = None) -> str:
        known = list(self._names if names is None else names)
        if known and self._rng.random() < 0.5:
            return self._rng.choice(known)
        return self._rng.choice((
            self._rng.choice(CONSTANTS), self._rng.choice(CONSTANTS), "n", "line[0]", "(unsigned char)line[n / 2]",
            "line[n]",
        ))

    def value(self, depth: int) -> str:
        if depth == 0:
            return f"({self.leaf()})"
        one, two = self.value(depth - 1), self.value(depth - 1)
        return self._rng.choice((
            f"({one} {self._rng.choice(BINARY)} {two})", f"({one} {self._rng.choice(BINARY)} {two})",
            f"({one} / ({two} | 1 ? 3 : 2))", f"({one} % 7)", f"({one} / (int)(({two} & 15) + 1))", f"(-{one})", f"(~{one})",
            f"(!{one})", f"({one} << ({two} & 7))", f"({one} >> ({two} & 15))", f"({one} ? {two} : {self.leaf()})",
            f"(({self._rng.choice(TYPES)}){one})", f"table[{one} & 7]", f"t[{one} & 7]",
            "(d > -1e9 && d < 1e9 ? (int)d : 5)",
            f"twice((int){one})",
            f"mix((unsigned){one}, {two})", f"larger({one}, {two})", "(long)strlen(w)", f"(toupper((int){one} & 127))",
            f"(isalpha((int){one} & 127) != 0)", "p.x", "p.y", "(long)sizeof p", f"depth((int)({one} & 15))", "atoi(line)",
            f"({one}, {two})", "(strcmp(w, line) > 0)", "((int)strspn(line, \"abc \"))", "c[0]",
        ))

    def target(self) -> str:
        return self._rng.choice((*self._names, *self._names, "p.x", "p.y", f"t[{self.value(1)} & 7]"))

    def block(self, depth: int) -> str:
        return "{ " + " ".join(self.statement(depth) for _ in range(self._rng.randrange(1, 4))) + " }"

    def statement(self, depth: int) -> str:
        kinds = [self.assign, self.assign, self.strings, self.output, self.numbers]
        if depth:
            kinds += [self.decide, self.loop, self.choose, self.jumps]
        if self._open and self._rng.random() < 0.3:
            return f"if ({self.value(1)}) {{ {self.assign(0)} goto {self._rng.choice(self._open)}; }}"
        return self._rng.choice(kinds)(depth - 1)

    def assign(self, depth: int) -> str:
        name, value = self.target(), self.value(2)
        return self._rng.choice((
            f"{name} = {value};", f"{name} {self._rng.choice(['+=', '-=', '*=', '&=', '|=', '^='])} {value};",
            f"{name}++;", f"--{name};", f"{name} <<= {value} & 3;", f"{name} /= 5;", f"{name} %= 9;",
        ))

    def strings(self, depth: int) -> str:
        number = self._rng.randrange(1, 15)
        return self._rng.choice((
            f'strncpy(w, line, {number}); w[{number}] = 0;', 'strcpy(w, p.name); strcat(w, "-x");',
            "strcpy(p.name, \"zz\");",
            f'snprintf(w, sizeof w, "%d.%s", (int){self.value(1)}, line);',
            f"memset(w, 'a' + (n & 7), {number}); w[{number}] = 0;",
            "if ((c = strchr(line, ' ')) == NULL) c = line;", "if (*c) c++; else c = line;",
            f"if (n > 1) line[{self.value(1)} & 1] = (char){self.value(1)};", "memcpy(t, table, sizeof t);",
            f"memmove(w + 1, w, {min(number, 13)}); w[15] = 0;", "w[0] = (char)toupper((unsigned char)w[0]);",
        ))

    def numbers(self, depth: int) -> str:
        return self._rng.choice((
            f"d = d * 0.5 + (double){self.value(1)};", f"d = (double)(float){self.value(1)} / 3;",
            "d = strtod(line, NULL) > 1 ? 2 : d;",
            f"add(&p, (int){self.value(1)}, {self.value(1)});", "{ struct point q = p; q.x++; p = q; }",
            f"if (sscanf(line, \"%d %ld\", &p.x, &p.y) < 1) p.x = {self.value(1)};", "d = -d;",
        ))

    def output(self, depth: int) -> str:
        name, text = self._rng.choice(list(self._names)), self._rng.choice(TEXTS)
        width = self._rng.choice(("", "5", "-6", "03", "+"))
        key = f"f{self._number}"
        return self._rng.choice((
            f'printf("{key}\\t{text} %{width}ld\\n", (long){self.value(2)});',
            f'printf("{key}.c\\t%c%5.2s|%x\\n", \'A\' + ((int){self.value(1)} & 15), w, (unsigned){name});',
            f'printf("{key}.d\\t%.2f %g %e\\n", d, d, d);', f'puts("{key}\\tputs");',
            "putchar('k'); printf(\"\\t%s\\n\", w);",
            f'printf("{key}.s\\t%.*s\\n", (int)({self.value(1)} & 7), line);', f'fputs(w, stdout); puts("\\t{key}");',
        ))

    def decide(self, depth: int) -> str:
        other = f" else {self.block(depth)}" if self._rng.random() < 0.5 else ""
        return f"if ({self.value(2)}) {self.block(depth)}{other}"

    def loop(self, depth: int) -> str:
        free = [name for name in ("i", "j") if name not in self._loops]
        if not free:
            return self.decide(depth)
        name = free[0]
        self._loops.append(name)
        inner = self.block(depth)
        jump = self._rng.choice(("", "", f"if ({self.value(1)}) break;", f"if ({self.value(1)}) continue;"))
        self._loops.pop()
        end = self._rng.choice(("3", "(n & 7)", "2"))
        return self._rng.choice((
            f"for ({name} = 0; {name} < {end}; {name}++) {{ {jump} {inner} }}",
            f"{name} = 4; while ({name}-- > 0) {{ {jump} {inner} }}",
            f"{name} = 0; do {{ {inner} }} while (++{name} < {end});",
        ))

    def choose(self, depth: int) -> str:
        count = self._rng.randrange(1, 4)
        parts = [f"case {n}: {self.statement(0)} {self._rng.choice(['break;', ''])}" for n in range(count)]
        parts.insert(self._rng.randrange(len(parts) + 1), f"default: {self.statement(0)}")
        return f"switch ((int)({self.value(1)} & 3)) {{ {' '.join(parts)} }}"

    def jumps(self, depth: int) -> str:
        """A block with a label behind some of its statements, at any depth of which they jump there, or back to it."""
        self._labels += 1
        label = f"l{self._labels}"
        self._open.append(label)
        over = self._rng.choice(("", f"if ({self.value(1)}) goto {label}; else ", "int late = 3; "))
        before = f"{self.block(depth)[1:-1]} {over} {self.block(depth)[1:-1]}"
        self._open.pop()
        used = "late = n & 3; p.x += late; " if "late" in over and self._rng.random() < 0.5 else ""
        behind = self._rng.choice(("", self.block(depth)[1:-1]))
        if self._rng.random() < 0.2:
            return f"{{ int turn{label} = 0; {label}b:; if (turn{label}++ > 1) goto {label}; {before} {label}:; {behind} "\
                   f"if (turn{label} < 2 && {self.value(1)}) goto {label}b; {used}}}"
        return f"{{ {before} {label}:; {behind} {used}}}"


def program(seed: int, functions: int) -> str:
    """A map program of `functions` random functions, all called for every record."""
    rng = random.Random(seed)
    texts = [Function(rng, number).text() for number in range(functions)]
    calls = "".join(f"    memcpy(copy, line, n + 1); f{number}(copy, n);\n" for number in range(functions))
    return (
        f"{HEAD}{''.join(texts)}int main(void)\n{{\n  char *line = NULL, copy[512]; size_t cap = 0; int n;\n"
        "#pragma mapreduce mapper key(copy) value(n) keylength(100)\n"
        "  while ((n = (int)getline(&line, &cap, stdin)) != -1) {\n    if (n > 500) { n = 500; line[n] = 0; }\n"
        f"    for (int at = 0; at < n; at++) {{ if (line[at] == 'Z') goto next; if (line[at] == '7') goto some; }}\n"
        f"{calls}    goto next;\n  some:\n    printf(\"seven\\t%d\\n\", n);\n  next: ;\n  }}\n  return 0;\n}}\n"
    )


def text(seed: int) -> bytes:
    """Records of words, numbers and any bytes."""
    rng = random.Random(seed)
    pieces = (b"a", b"abc", b" ", b"\t", b"12", b"-7", b"3.25", b"\0", b"\r", b"\xff", b"\xc3\xa9", b"Zz", b"x" * 40, b"0")
    lines = [b"".join(rng.choice(pieces) for _ in range(rng.randrange(9))) for _ in range(24)]
    return b"\n".join([*lines, bytes(rng.randrange(256) for _ in range(300))])
