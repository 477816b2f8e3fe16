"""NaNs whose sign is known are printed by a device; those that arithmetic made, or might have, go to the CPU."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from ...support import Bundles, cli_here, parts
from ..regions import cuda, mapper

PRINT = 'printf("%s\\t%f\\n", k, x);'
KNOWN = {
    "atof": "double x = atof(line); strcpy(k, \"a\");",
    "strtod": 'char *end; double x = strtod(line, &end); strcpy(k, "a");',
    "sscanf": 'double x; if (sscanf(line, "%31s %lf", k, &x) != 2) continue;',
    "copied": 'double y = atof(line), x; x = y; if (x == 3) x = 0.5; strcpy(k, "a");',
    "array": 'double t[3] = {1, 2, 3}; t[v & 1] = atof(line); sscanf(line, "%lf", &t[2]); double x = t[2]; strcpy(k, "a");',
    "struct": 'struct { int n; double x; } s = {0}; s.x = strtod(line, NULL); s.n++; double x = s.x; strcpy(k, "a");',
    "swapped": 'double x = atof(line), y = 1, t; t = x; x = y; y = t; strcpy(k, "a");',
    "negated": "double x = -atof(line);", "choice": "double y = atof(line), x = y > 1 ? -y : 1;",
    "float": "float f; sscanf(line, \"%f\", &f); f = -f; double x = f;", "narrowed": "double x = (float)atof(line);",
    "global": "g = atof(line); double x = g;", "absolute": "g = strtof(line, NULL); double x = fabs(-g);",
    "sign taken": "g = atof(line); double x = copysign(g, -g);", "integer": "double x = v + 1;",
    "chained": "double x, y; x = y = atof(line);", "comma": "double x = (v++, atof(line));",
    "result": "double x = same(-atof(line));", "structs": "struct pair p = {1, atof(line)}, q; q = p; double x = -q.x;",
    "not a number": "double x = v ? -__hd_nanf() : 1;",
}
UNKNOWN = {
    "sum": "double x = atof(line); x += 1;", "product": "double x = 2 * atof(line);",
    "absolute": "double x = atof(line); x = fabs(x * x);", "global": "g = 2 * atof(line); double x = g;",
    "sign taken": "double x = copysign(1.0, sqrt(atof(line)));", "sum negated": "double x = -(atof(line) + 1);",
    "pointer": "double x = atof(line), *p = &x; *p = *p * 2;",
    "choice": "double y = atof(line), x = y > 1 ? y : 2 * y;",
    "helper": "double x; fill(&x, line);", "root": "double x = sqrt(atof(line));", "result": "double x = twice(atof(line));",
    "union": "union { double d; long n; } u; u.d = atof(line); u.n ^= 1; double x = u.d;",
    "element": "double t[2] = {0, 0}; t[1] = t[0] / 0; double x = t[0];", "step": "double x = atof(line); x++;",
    "copied": "double y = 0, x = atof(line); y = x; x = y; y = x * 2;", "bytes": "double x = 0; memcpy(&x, line, 1);",
}
HELPERS = """
struct pair { int n; double x; };
double fabs(double), copysign(double, double); float strtof(const char *, char **), __hd_nanf(void);
static double g;
static double same(double x) { return x; }
static void fill(double *x, const char *text) { *x = atof(text) * 2; }
static double twice(double x) { return x + x; }
"""


@pytest.mark.parametrize("name", KNOWN)
def test_what_was_read_and_copied_needs_no_look(name: str) -> None:
    assert "hd::checked(" not in cuda(mapper(f'v = 1; strcpy(k, "a"); {KNOWN[name]} {PRINT}', helpers=HELPERS))


@pytest.mark.parametrize("name", UNKNOWN)
def test_what_may_come_of_arithmetic_is_looked_at(name: str) -> None:
    assert "hd::checked(" in cuda(mapper(f'v = 1; {UNKNOWN[name]} strcpy(k, "a"); {PRINT}', helpers=HELPERS))


HEAD = r"""
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
static double g = 1, h[3];
static float s = 2;
struct pair { int n; double x; float y; };
static double turned(double x, int n) { return n & 1 ? -x : x; }
static float half(float x) { return -x; }
int main(void) {
  char line[99], k[32];
  double x, y, z;
  float a, b;
  struct pair p, q;
#pragma mapreduce mapper key(k) value(x)
  while (fgets(line, sizeof line, stdin) != NULL) {
    if (sscanf(line, "%31s %lf %f", k, &x, &a) != 3) continue;
    int n = k[0];
    z = g = y = x; h[0] = h[1] = h[2] = -y; s = b = a; p.n = 1; p.x = -x; p.y = a; q = p;
"""
TAIL = r"""
    printf("%s\t%f %g %e %f|%f %f %.1f|%f %g\n", k, x, y, z, g, a, b, s, q.x, q.y);
  }
  return 0;
}
"""
REALS = ["x", "y", "z", "g", "a", "b", "s", "p.x", "p.y", "q.x", "q.y", "h[1]", "h[n & 1]"]


def number(rng: random.Random, depth: int = 0) -> str:
    """An expression of which the sign is known."""
    if depth > 3 or rng.random() < 0.3:
        return rng.choice([*REALS, "0.5", "-1.0f", "n", "atof(line + 1)", "strtof(line + 1, NULL)", "NAN", "-NAN"])
    one, other = number(rng, depth + 1), number(rng, depth + 1)
    return rng.choice([
        f"-({one})", f"(float)({one})", f"(double)({one})", f"fabs({one})", f"fabsf({one})", f"copysign({one}, {other})",
        f"copysignf({one}, {other})", f"(n & {rng.choice([1, 2, 4])} ? {one} : {other})", f"turned({one}, n)",
        f"half({one})", f"({one} < {other} ? {one} : {other})", f"({rng.choice(REALS)} = {one})",
    ])


@pytest.mark.usefixtures("kernel_cache")
def test_nans_of_columns_stay_on_the_device(bundles: Bundles, tmp_path: Path) -> None:
    """Random programs: copies, conversions and operations on the sign, on the CPU and on the emulated device."""
    rng = random.Random(29)
    steps = [f"if (n & {rng.choice([1, 2, 4])}) {rng.choice(REALS)} = {number(rng)};" for _ in range(60)]
    steps = [step for step in steps if step.count(" = ") == 1]  # C leaves open when an assignment in an expression is made
    bundle = bundles.get(HEAD + "\n".join(steps) + TAIL)
    texts = ["nan", "-nan", "NAN(7)", "-NaN(0x8)", "+nan", "nan()", "-inf", "2.5", "-0"]
    lines = [f"{chr(rng.randrange(97, 122))} {rng.choice(texts)} {rng.choice(texts)}\n" for _ in range(300)]
    (tmp_path / "in").write_text("".join(lines))
    orders = ["forward", "reverse", "random"]
    for name in ("cpu", *orders):
        device = ["emulated", "-D", f"heterodoop.emulated.order={name}"] if name in orders else ["cpu"]
        done = cli_here("run", bundle, tmp_path / "in", "-o", tmp_path / name, "-r", 0, "--device", *device)
        assert "HD410" not in done.message
        assert parts(tmp_path / name) == parts(tmp_path / "cpu")
    assert b"-nan" in parts(tmp_path / "cpu")[0]
