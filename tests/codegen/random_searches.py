"""Random map programs with many loops that look for a place in a read-only table, and records for them.

Not a test module; tests/on_gpu/device_check.py has them too.
"""

from __future__ import annotations

import random

TYPES = ("char", "signed char", "unsigned char", "short", "unsigned short", "int", "unsigned", "long", "unsigned long",
         "double", "float")
INDEXES = ("int", "unsigned", "long", "unsigned long", "long long")
COMPARISONS = ("==", "!=", "<", ">", "<=", ">=")
OTHERS = ("x", "y", "(x & 7)", "x + y", "(long)x", "(unsigned char)x", "17", "-3", "2.5", "m")
LOOPS = 40
PROGRAM = """#include <stdio.h>
#include <stdlib.h>
{tables}
static const unsigned first[40] = {{5, 41, 77}};
static int is(int a, int b) {{ return a == b || a > 50; }}
int main(void)
{{
    char *line = NULL;
    size_t nbytes = 0;
    int key, value;
#pragma mapreduce mapper key(key) value(value)
    while (getline(&line, &nbytes, stdin) != -1) {{
        char *end;
        int x = (int)strtol(line, &end, 10), y = (int)strtol(end, &end, 10);
        int from = abs((int)strtol(end, &end, 10)), limit = (int)strtol(end, &end, 10);
        int flag = x & 1, c, hits = 0;
        long m = -1;
        unsigned h = 7;
{loops}
        key = (int)(h & 0xffff);
        value = (int)(h >> 3);
        printf("%d\\t%d\\n", key, value);
    }}
    return 0;
}}
"""


def table(chosen: random.Random, number: int, kind: str) -> tuple[str, int]:
    """A table's definition and its size; one of five elements is too small to look ahead in."""
    size = chosen.choice([32, 33, 40, 47, 48, 64, 100, 5])
    most = chosen.choice([10, 60, 128])
    values = ", ".join(str(chosen.randrange(-3 if most < 128 else -128, most)) for _ in range(size))
    return f"static const {kind} t{number}[{size}] = {{{values}}};", size


def stops(chosen: random.Random, element: str) -> str:
    """A test of an element."""
    other, compared = chosen.choice(OTHERS), chosen.choice(COMPARISONS)
    plain = f"{element} {compared} {other}"
    return chosen.choice([
        plain, f"!({plain})", f"{other} {compared} {element}", f"({plain} || {element} == y)", f"({plain} && flag)",
        f"is((int){element}, x)", f"({element} ? x : y) < 9", element, f"(flag ? {element} > 3 : {element} < x)"])


def loop(chosen: random.Random, number: int, table: int, size: int) -> str:
    index = chosen.choice(INDEXES)
    element = f"t{table}[{chosen.choice(['i', '(long)i'])}]"
    bound = chosen.choice([
        f"i < {size}", f"i <= {size - 1}", f"{size} > i", f"i != {size}", f"i < (int)first[c] % {size + 1}",
        f"i < {size} && i < limit", f"i + 1 <= {size}"])
    tests = [*(["flag"] if chosen.random() < 0.2 else []), stops(chosen, element)]
    tests += [f"{element} != {chosen.choice('xy0')}"] if chosen.random() < 0.3 else []
    start = f"({chosen.choice(['0', '1', 'from', 'from % 20'])}) % {size + 1}"
    goes = " && ".join(tests)
    written = chosen.choice([
        f"for (i = {start}; {bound} && {goes}; i++);",
        f"i = {start}; while ({bound} && {goes}) ++i;",
        f"for (i = {start}; {bound}; i += 1) if (!({goes})) break;",
        f"for (i = {start}; {bound}; i++) if (!({goes})) {{ hits += {number}; if (hits > 9999) break; }}"])
    return f"        {{ {index} i; c = {chosen.randrange(3)}; {written} h = h * 31u + (unsigned)i + (unsigned)hits; }}"


def program(chosen: random.Random) -> str:
    tables = [table(chosen, number, kind) for number, kind in enumerate(TYPES)]
    loops = []
    for number in range(LOOPS):
        which = chosen.randrange(len(tables))
        loops.append(loop(chosen, number, which, tables[which][1]))
    return PROGRAM.format(tables="\n".join(text for text, _ in tables), loops="\n".join(loops))


def records(chosen: random.Random) -> bytes:
    starts = [-1, 0, 1, 15, 16, 17, 31, 32, 33, 40, 99]
    return "".join(
        f"{chosen.randrange(-5, 70)} {chosen.randrange(-5, 60)} {chosen.choice(starts)} {chosen.randrange(110)}\n"
        for _ in range(300)).encode()
