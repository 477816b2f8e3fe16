"""Map programs made at random that gather in variables and arrays, and print these behind the loop. Not a test module.

Each variable is updated in one way (sums, bits, least, greatest), in many spellings, by the region and by functions that it
calls. Some start with a value that the code before the loop computes.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

TYPES = ("int", "unsigned", "long", "unsigned long", "short", "unsigned short", "unsigned char", "signed char", "long long")
FORMATS = {
    "int": "%d", "unsigned": "%u", "long": "%ld", "unsigned long": "%lu", "short": "%hd", "unsigned short": "%hu",
    "unsigned char": "%hhu", "signed char": "%hhd", "long long": "%lld",
}
OPERATIONS = ("sum", "min", "max", "and", "or", "xor")
VALUES = (
    "n", "c", "n * 3 - 40", "(long)c * n", "line[0]", "n % 7 - 3", "n << (c & 15)", "-n", "atoi(line)", "(short)(c * 300)",
    "(n > 9 ? c : -c)", "1", "-1", "4000000000u", "c * 7001",
)
HEAD = """#include <stdio.h>
#include <stdlib.h>
#include <string.h>
"""


@dataclass(frozen=True)
class Variable:
    """`dims`: of an array, () for a number. place: "global", "static" of the file, "local" of main()."""

    name: str
    type: str
    op: str
    dims: tuple[int, ...]
    place: str

    @property
    def declared(self) -> str:
        return f"{self.type} {self.name}{''.join(f'[{n}]' for n in self.dims)}"

    def element(self, rng: random.Random) -> str:
        indexes = ("(unsigned char)c % {}", "(unsigned)n % {}", "(n & 1023) % {}", "(c & 127) % {}")
        return self.name + "".join(f"[{rng.choice(indexes).format(n)}]" for n in self.dims)


def program(seed: int) -> str:
    rng = random.Random(seed)
    variables = [
        Variable(f"t{i}", rng.choice(TYPES), rng.choice(OPERATIONS),
                 rng.choice(((), (), (5,), (26,), (3, 4), (2500,))), rng.choice(("global", "static", "local")))
        for i in range(rng.randrange(3, 8))
    ]
    outer = [v for v in variables if v.place != "local"]
    helper = "\n".join(f"    {update(rng, v)}" for v in outer for _ in range(rng.randrange(2)))
    body = "\n".join(f"            {update(rng, v)}" for v in variables for _ in range(rng.randrange(1, 3)))
    pairs = rng.choice(('printf("%d\\t%d\\n", n % 5, (int)c);', 'if (c == 97) puts(line);', ""))
    shown = "\n".join(show(rng, v) for v in variables)
    last = rng.choice(("", 'printf("behind%d\\t%d\\n", 3, c);', 'printf("3\\t9\\n97\\t1\\n");'))
    statics = "".join(f"{'static ' if v.place == 'static' else ''}{v.declared};\n" for v in outer)
    locals_ = "".join(f"    {v.declared};\n" for v in variables if v.place == "local")
    starts = "".join(f"    {start(rng, v)}\n" for v in variables)
    return f"""{HEAD}{statics}static void helper(const char *line, int n, int c)
{{
    (void)line; (void)n; (void)c;
{helper}
}}
int main(void)
{{
    char line[80];
    int n, c, i, j;
    long shown = 0;
{locals_}{starts}
#pragma mapreduce mapper key(line) value(n)
    while (fgets(line, sizeof line, stdin) != NULL) {{
        char *end = strchr(line, '\\n');
        if (end != NULL)
            *end = '\\0';
        n = (int)strlen(line);
        for (i = 0; i < n; i++) {{
            c = line[i];
{body}
            helper(line, n, c);
        }}
        c = line[0];
        {pairs}
    }}
    c = 0;
{shown}
    fprintf(stderr, "reporter:counter:shown,all,%ld\\n", shown);
    {last}
    return 0;
}}
"""


def start(rng: random.Random, v: Variable) -> str:
    first = rng.choice(("0", "7", "-3", "(int)sizeof line", "1 << 20"))
    if v.place != "local" and rng.random() < 0.4:
        return ""
    if not v.dims:
        return f"{v.name} = ({v.type})({first});"
    count, one = f"(int)(sizeof {v.name} / sizeof({v.type}))", f"(({v.type} *){v.name})[i]"
    return f"for (i = 0; i < {count}; i++) {one} = ({v.type})({first} + i);"


def update(rng: random.Random, v: Variable) -> str:
    x, e = v.element(rng), rng.choice(VALUES)
    exact = f"({v.type})({e})"
    spellings = {
        "sum": (f"{x}++;", f"++{x};", f"{x}--;", f"{x} += {e};", f"{x} -= {e};", f"{x} = {x} + ({e});",
                f"{x} = ({e}) + {x} - n;", f"{x} = {x} - ({e});", f"if (c == ' ') {x} += 2;"),
        "or": (f"{x} |= {e};", f"{x} = {x} | ({e});", f"if (n > 4) {x} |= 1u << (n & 7);"),
        "and": (f"{x} &= {e};", f"{x} = ({e}) & {x};", f"{x} &= ~(1 << (c & 15));"),
        "xor": (f"{x} ^= {e};", f"{x} = {x} ^ ({e});"),
        "max": (f"if ({exact} > {x}) {x} = {exact};", f"if ({x} <= {exact}) {{ {x} = {exact}; }}",
                f"{x} = {exact} > {x} ? {exact} : {x};", f"{x} = {x} > {exact} ? {x} : {exact};"),
        "min": (f"if ({exact} < {x}) {x} = {exact};", f"if ({x} >= {exact}) {x} = {exact};",
                f"{x} = {x} < {exact} ? {x} : {exact};", f"{x} = {exact} <= {x} ? {exact} : {x};"),
    }
    return rng.choice(spellings[v.op])


def show(rng: random.Random, v: Variable) -> str:
    if not v.dims:
        return f'    printf("{v.name}\\t{FORMATS[v.type]}\\n", {v.name}); shown++;'
    if len(v.dims) == 2:
        return (f"    for (i = 0; i < {v.dims[0]}; i++)\n        for (j = 0; j < {v.dims[1]}; j++, shown++)\n"
                f'            printf("{v.name}.%d.%d\\t{FORMATS[v.type]}\\n", i, j, {v.name}[i][j]);')
    return (f"    for (i = 0; i < {v.dims[0]}; i++)\n        if ({v.name}[i] != {rng.choice((0, 7))})\n"
            f'            printf("{v.name}.%d\\t{FORMATS[v.type]}\\n", i, {v.name}[i]), shown += i;')


def text(seed: int, lines: int = 60) -> bytes:
    rng = random.Random(seed)
    letters = b"abc 019-xyz\t.~\x80\xff"
    return b"".join(bytes(rng.choice(letters) for _ in range(rng.choice((0, 1, 5, 30, 70)))) + b"\n" for _ in range(lines))
