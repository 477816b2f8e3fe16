"""NaNs whose sign is known are printed by a device; those that arithmetic made, or might have, go to the CPU."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..support import Bundles, cli_here, parts
from .regions import cuda, mapper

PRINT = 'printf("%s\\t%f\\n", k, x);'
KNOWN = {
    "atof": "double x = atof(line); strcpy(k, \"a\");",
    "strtod": 'char *end; double x = strtod(line, &end); strcpy(k, "a");',
    "sscanf": 'double x; if (sscanf(line, "%31s %lf", k, &x) != 2) continue;',
    "copied": 'double y = atof(line), x; x = y; if (x == 3) x = 0.5; strcpy(k, "a");',
    "array": 'double t[3] = {1, 2, 3}; t[v & 1] = atof(line); sscanf(line, "%lf", &t[2]); double x = t[2]; strcpy(k, "a");',
    "struct": 'struct { int n; double x; } s = {0}; s.x = strtod(line, NULL); s.n++; double x = s.x; strcpy(k, "a");',
    "swapped": 'double x = atof(line), y = 1, t; t = x; x = y; y = t; strcpy(k, "a");',
}
UNKNOWN = {
    "sum": "double x = atof(line); x += 1;", "negated": "double x = -atof(line);", "product": "double x = 2 * atof(line);",
    "float": "float f; sscanf(line, \"%f\", &f); double x = f;", "narrowed": "double x = (float)atof(line);",
    "pointer": "double x = atof(line), *p = &x; *p = *p * 2;", "choice": "double y = atof(line), x = y > 1 ? y : 1;",
    "helper": "double x; fill(&x, line);", "root": "double x = sqrt(atof(line));", "result": "double x = twice(atof(line));",
    "union": "union { double d; long n; } u; u.d = atof(line); u.n ^= 1; double x = u.d;",
    "element": "double t[2] = {0, 0}; t[1] = t[0] / 0; double x = t[0];", "step": "double x = atof(line); x++;",
    "copied": "double y = 0, x = atof(line); y = x; x = y; y = x * 2;", "bytes": "double x = 0; memcpy(&x, line, 1);",
}
HELPERS = """
static void fill(double *x, const char *text) { *x = atof(text) * 2; }
static double twice(double x) { return x + x; }
"""


@pytest.mark.parametrize("name", KNOWN)
def test_what_was_read_and_copied_needs_no_look(name: str) -> None:
    assert "hd::checked(" not in cuda(mapper(f"v = 1; {KNOWN[name]} {PRINT}"))


@pytest.mark.parametrize("name", UNKNOWN)
def test_what_may_come_of_arithmetic_is_looked_at(name: str) -> None:
    assert "hd::checked(" in cuda(mapper(f'v = 1; {UNKNOWN[name]} strcpy(k, "a"); {PRINT}', helpers=HELPERS))


PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  char line[99], k[32];
  double x, y;
#pragma mapreduce mapper key(k) value(x)
  while (fgets(line, sizeof line, stdin) != NULL) {
    if (sscanf(line, "%31s %lf", k, &x) != 2) continue;
    y = atof(line);
    printf("%s\t%f %g %+.3e\n", k, x, y, x);
  }
  return 0;
}
"""


@pytest.mark.usefixtures("kernel_cache")
def test_nans_of_a_column_stay_on_the_device(bundles: Bundles, tmp_path: Path) -> None:
    bundle = bundles.get(PROGRAM)
    (tmp_path / "in").write_text("nan nan\n-nan -nan\nNAN(7) -NaN(0x8)\n1 -inf\nx 2.5\n+nan +nan()\n")
    for device in ("cpu", "emulated"):
        done = cli_here("run", bundle, tmp_path / "in", "-o", tmp_path / device, "--device", device, "-r", 0)
        assert "HD410" not in done.message
    assert parts(tmp_path / "cpu") == parts(tmp_path / "emulated")
    assert b"nan\tnan nan +nan\n-nan\t-nan -nan -nan\n" in parts(tmp_path / "cpu")[0]
