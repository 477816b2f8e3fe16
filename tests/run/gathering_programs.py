"""Map programs made at random that gather in variables, arrays, members of structs and memory of the heap, and print these
behind the loop. Not a test module.

Each variable is updated in one way (sums, bits, least, greatest), in many spellings, by the region and by functions that it
calls. Some start with a value that the code before the loop computes.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

TYPES = ("int", "unsigned", "long", "unsigned long", "short", "unsigned short", "unsigned char", "signed char", "long long")
FORMATS = {
    "int": "%d", "unsigned": "%u", "long": "%ld", "unsigned long": "%lu", "short": "%hd", "unsigned short": "%hu",
    "unsigned char": "%hhu", "signed char": "%hhd", "long long": "%lld", "double": "%g", "float": "%g",
}
REALS = ("double", "float")
OPERATIONS = ("sum", "min", "max", "and", "or", "xor")
VALUES = (
    "n", "c", "n * 3 - 40", "(long)c * n", "line[0]", "n % 7 - 3", "n << (c & 15)", "-n", "atoi(line)", "(short)(c * 300)",
    "(n > 9 ? c : -c)", "1", "-1", "4000000000u", "c * 7001",
)
REAL_VALUES = (
    "n", "c / 4.0", "-(double)(n % 3)", "atof(line)", "n % 2 ? -0.0 : 0.0", "c * 0.1", "0.0", "-n", "1e30 * c",
    "n - 10",
)
HEAD = """#include <stdio.h>
#include <stdlib.h>
#include <string.h>
"""


@dataclass(frozen=True)
class Variable:
    """`dims`: of an array, () for a number. place: "global", "static" of the file, "local" of main().

    member  of a struct, of which each element is one, with the members `a` and `b`; "": none. inner: its dimensions.
    other   the declaration of the other member.
    heap    it is memory of the heap, to which the variable points.
    strict  of a least or greatest real number: compared by < or >, not <= or >=.
    """

    name: str
    type: str
    op: str
    dims: tuple[int, ...]
    place: str
    member: str = ""
    inner: tuple[int, ...] = ()
    other: str = ""
    strict: bool = True
    heap: bool = False

    @property
    def declared(self) -> str:
        name = f"(*{self.name})" if self.heap else self.name
        name += "".join(f"[{n}]" for n in self.dims[self.heap:])
        if not self.member:
            return f"{self.type} {name}"
        return f"struct {{ char pad; {self.own}; {self.other}; }} {name}"

    @property
    def own(self) -> str:
        return f"{self.type} {self.member}{''.join(f'[{n}]' for n in self.inner)}"

    @property
    def real(self) -> bool:
        return self.type in REALS

    def element(self, rng: random.Random) -> str:
        indexes = ("(unsigned char)c % {}", "(unsigned)n % {}", "(n & 1023) % {}", "(c & 127) % {}")
        return self.at(rng.choice(indexes).format(n) for n in (*self.dims, *self.inner))

    def at(self, indexes: Iterable[str]) -> str:
        """An element by its indexes, of the array first, then of the member."""
        all_ = [f"[{i}]" for i in indexes]
        member = f".{self.member}{''.join(all_[len(self.dims):])}" if self.member else ""
        name = f"(*{self.name})" if self.heap and not self.dims else self.name
        return f"{name}{''.join(all_[:len(self.dims)])}{member}"

    def allocated(self, rng: random.Random) -> str:
        count = f"{self.dims[0] if self.dims else 1}{rng.choice(('', ' + atoi(argv[argc - 1])'))}"  # of no argument: ./map
        sizes = rng.choice((f"{count}, sizeof *{self.name}", f"1, ({count}) * sizeof *{self.name}"))
        return f"{self.name} = calloc({sizes});"

    def each(self, what: Callable[[str], str]) -> str:
        """Loops over all elements."""
        loops = [(f"i{level}", n) for level, n in enumerate((*self.dims, *self.inner))]
        heads = "".join(f"for ({i} = 0; {i} < {n}; {i}++) " for i, n in loops)
        return f"    {heads}{what(self.at(i for i, _ in loops))}"


def variables_of(rng: random.Random) -> list[Variable]:
    found: list[Variable] = []
    for i in range(rng.randrange(3, 7)):
        dims = rng.choice(((), (), (5,), (26,), (3, 4), (2500,)))
        place = rng.choice(("global", "static", "local"))
        one = typed(rng, Variable(f"t{i}", "", "", dims, place, heap=rng.random() < 0.25))
        if rng.random() < 0.35:
            dims = dims if dims != (2500,) else (300,)
            one = replace(one, dims=dims, member="a", inner=rng.choice(((), (), (3,), (2, 2))))
            two = replace(typed(rng, one), member="b", inner=rng.choice(((), (2,))))
            found += [replace(one, other=two.own), replace(two, other="")]
        else:
            found.append(one)
    return found


def typed(rng: random.Random, v: Variable) -> Variable:
    kind = rng.choice((*TYPES, *REALS))
    return replace(v, type=kind, strict=rng.random() < 0.5, op=rng.choice(("min", "max") if kind in REALS else OPERATIONS))


def program(seed: int) -> str:
    rng = random.Random(seed)
    variables = variables_of(rng)
    declared = [v for v in variables if not v.member or v.other]
    outer = [v for v in variables if v.place != "local"]
    helper = "\n".join(f"    {update(rng, v)}" for v in outer for _ in range(rng.randrange(2)))
    body = "\n".join(f"            {update(rng, v)}" for v in variables for _ in range(rng.randrange(1, 3)))
    pairs = rng.choice(('printf("%d\\t%d\\n", n % 5, (int)c);', 'if (c == 97) puts(line);', ""))
    shown = "\n".join(show(rng, v) for v in variables)
    last = rng.choice(("", 'printf("behind%d\\t%d\\n", 3, c);', 'printf("3\\t9\\n97\\t1\\n");'))
    statics = "".join(f"{'static ' if v.place == 'static' else ''}{v.declared};\n" for v in declared if v.place != "local")
    locals_ = "".join(f"    {v.declared};\n" for v in declared if v.place == "local")
    allocated = "".join(f"    {v.allocated(rng)}\n" for v in declared if v.heap)
    starts = allocated + "".join(f"{start(rng, v)}\n" for v in variables)
    return f"""{HEAD}{statics}static void helper(const char *line, int n, int c)
{{
    (void)line; (void)n; (void)c;
{helper}
}}
int main(int argc, char **argv)
{{
    char line[80];
    int n, c, i, i0, i1, i2, i3;
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
    if (v.heap or v.place != "local") and rng.random() < 0.4:
        return ""
    if v.real:
        first = rng.choice((first, "1e300 * 1e300", "-1e300 * 1e300", "-0.0", "0.5"))
    index = next((f" + {i}" for i in (["i0"] if v.dims or v.inner else [])), "")
    return v.each(lambda one: f"{one} = ({v.type})({first}{index});")


def update(rng: random.Random, v: Variable) -> str:
    x, e = v.element(rng), rng.choice(REAL_VALUES if v.real else VALUES)
    exact = f"({v.type})({e})"
    if v.real:
        less = "<" if v.op == "min" else ">"
        more = {"<": ">", ">": "<"}[less]
        less, more = (less, more) if v.strict else (f"{less}=", f"{more}=")
        return rng.choice((f"if ({exact} {less} {x}) {x} = {exact};", f"if ({x} {more} {exact}) {{ {x} = {exact}; }}",
                           f"{x} = {exact} {less} {x} ? {exact} : {x};", f"{x} = {x} {more} {exact} ? {exact} : {x};"))
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
    indexes = [f"i{level}" for level in range(len(v.dims) + len(v.inner))]
    key, more = f"{v.name}{v.member}{'.%d' * len(indexes)}", "".join(f"{i}, " for i in indexes)
    test = f"if ({v.at(indexes)} != {rng.choice((0, 7))}) " if indexes and rng.random() < 0.5 else ""
    return v.each(lambda one: f'{test}printf("{key}\\t{FORMATS[v.type]}\\n", {more}{one}), shown++;')


def text(seed: int, lines: int = 60) -> bytes:
    rng = random.Random(seed)
    letters = b"abc 019-xyz\t.~\x80\xff"
    numbers = (b"nan", b"-nan(7)", b"-0.0", b"0", b"-3.5", b"inf", b"1e-400")
    found = []
    for _ in range(lines):
        found.append(rng.choice(numbers) if rng.random() < 0.3 else b"")
        found.append(bytes(rng.choice(letters) for _ in range(rng.choice((0, 1, 5, 30, 60)))) + b"\n")
    return b"".join(found)
