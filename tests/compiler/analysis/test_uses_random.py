"""Random mappers: where no variable is called carried, records must not depend on each other.

The program runs once over all records and once per record; private variables make the two the same. Programs in which
an array is only assumed to be private are left out: for them nothing is promised.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from ..ir_c import build, output
from ..regions import PRELUDE, analyse, mapper

HELPERS = """
static int g;
static int maybe(int *p, int x) { if (x & 1) { *p = x; return 1; } return 0; }
static int find(const int *from, int n, int *at) {
  for (int i = 0; i < n; i++) if (from[i] > 5) { *at = i; return i; }
  return -1;
}
static void fill(int *to, int x) { for (int i = 0; i < 4; i++) to[i] = x + i; }
static int bump(int x) { static int calls; if (x & 4) calls = 0; return calls++ + x; }
static int kept(int x) { static int last; last = x * 3; return last + 1; }
static void both(int *p, int *q, int x) { if (x > 3) *p = x; else *q = x; }
"""
BEFORE = """int a = 1, b = 2, c = 3, d = 4, t[4] = {9, 8, 7, 6}, *p = &d; struct { int x, y; } s = {5, 6};
char w[16] = "init"; v = 0; k[0] = 0;"""
NUMBERS = ("a", "b", "c", "d", "g", "v", "s.x", "s.y", "t[1]", "t[2]", "*p", "w[0]")
KNOWN = ("(int)n", "line[0]", "1", "7")


class Maker:
    """Statements in which variables are mostly, but not always, written before they are read."""

    def __init__(self, seed: int) -> None:
        self._rng = random.Random(seed)
        self._written: list[str] = []

    def source(self) -> str:
        self._written = self._rng.sample(NUMBERS[:-1], self._rng.randrange(3, 11))
        body = " ".join(f"{name} = {self._rng.choice(KNOWN)};" for name in self._written)
        body += " ".join(self.statement(3) for _ in range(self._rng.randrange(2, 6)))
        shown = self._rng.sample(NUMBERS, 2) if self._rng.random() < 0.1 else self._written[-2:]
        values = " + ".join(shown or ["1"])
        return mapper(f'{body} printf("%d\\n", {values});', before=BEFORE, helpers=HELPERS)

    def value(self) -> str:
        pool = self._written if self._written and self._rng.random() < 0.96 else list(NUMBERS)
        pool = [*pool, *KNOWN, *KNOWN]
        one, two = self._rng.choice(pool), self._rng.choice(pool)
        return self._rng.choice([one, f"({one} + {two})", f"({one} > {two})", f"({one} ? {two} : 3)", f"({one} & 3)"])

    def target(self) -> str:
        name = self._rng.choice(NUMBERS)
        self._written.append(name)
        return name

    def block(self, depth: int) -> str:
        known = list(self._written)
        text = " ".join(self.statement(depth - 1) for _ in range(self._rng.randrange(1, 3)))
        if self._rng.random() < 0.9:
            self._written = known  # written on this path alone
        return f"{{ {text} }}"

    def statement(self, depth: int) -> str:
        kinds = [self.assign, self.assign, self.call, self.copy]
        if depth > 0:
            kinds += [self.decide, self.decide, self.loop, self.guard]
        return self._rng.choice(kinds)(depth)

    def assign(self, depth: int) -> str:
        value = self.value()
        return f"{self.target()} {self._rng.choice(['=', '=', '=', '+='])} {value};"

    def call(self, depth: int) -> str:
        value, name = self.value(), self._rng.choice(["a", "b", "c", "v", "s.x"])
        other = self._rng.choice(["a", "b", "c"])
        return self._rng.choice([
            f"if (maybe(&{name}, {value})) {{ g = {name}; }} else {name} = 2;", f"maybe(&{name}, {value});",
            f"{name} = find(t, 4, &{other});", f"fill(t, {value}); {name} = t[3];", f"{name} = bump({value});",
            f"{name} = kept({value});", f"both(&{name}, &{other}, {value});",
            f"p = &{other}; *p = {value}; {name} = {other};",
            f"if (find(t, 4, &{name}) != -1) {{ v = {name}; }}",
        ])

    def copy(self, depth: int) -> str:
        return self._rng.choice([
            "strncpy(w, line, 15); w[15] = 0; b = (int)strlen(w);", "memset(&s, 0, sizeof s); a = s.y;",
            "memset(t, 0, sizeof t);", "c = w[1];", "snprintf(w, sizeof w, \"%d\", a);",
            "if (sscanf(line, \"%d\", &a) == 1) d = a;", "s.x = a; s.y = a;",
            "sscanf(line, \"%d\", &b); b++;",
        ])

    def decide(self, depth: int) -> str:
        cond = self.value()
        other = f" else {self.block(depth)}" if self._rng.random() < 0.6 else ""
        return f"if ({cond}) {self.block(depth)}{other}"

    def loop(self, depth: int) -> str:
        name = self._rng.choice(["i", "j"])
        end = self._rng.choice(["3", "(int)n", "2"])
        jump = self._rng.choice(["", f" if ({self.value()}) break;", f" if ({self.value()}) continue;"])
        inner = self.block(depth)
        return f"for (int {name} = 0; {name} < {end}; {name}++) {{{jump} {inner} }}"

    def guard(self, depth: int) -> str:
        name = self.target()
        return f"{name} = 0; if ({self.value()}) {{ {name} = 1; c = {self.value()}; }} if ({name}) {{ d = c; }}"


RECORDS = [b"x 12\n", b"7\n", b"abcdefg\n", b"\n", b"4 x\n", b"zz\n", b"1\n", b"9\n"]


@pytest.mark.parametrize("batch", range(4))
def test_records_are_independent(batch: int, tmp_path: Path) -> None:
    tried = 0
    for seed in range(batch * 1000, batch * 1000 + 12):
        source = Maker(seed).source()
        analysis, _ = analyse(source)
        classes = {v.cls for v in analysis.region.variables}
        if "carried" in classes or "guarded" in classes or analysis.refusals:
            continue
        tried += 1
        binary = build(PRELUDE + source, tmp_path / f"p{seed}", std="gnu11")
        whole = output(binary, b"".join(RECORDS))
        alone = [output(binary, record) for record in RECORDS]
        assert whole == (0, b"".join(out for _, out in alone)), source
    assert tried > 0
