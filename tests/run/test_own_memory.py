"""Programs whose threads need much memory of their own: nearly the most runs on the emulated device, more is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from heterodoop.engine.run.plan import RunOptions
from heterodoop.engine.verify.verify import verify

from ..support import Bundles

pytestmark = pytest.mark.usefixtures("kernel_cache")
LOCAL = """
#include <stdio.h>
#include <string.h>
static int last(const char *s) { char t[HELPER]; memset(t, *s, sizeof t); return t[s[1] ? sizeof t - 1 : 0]; }
int main(void) {
  char line[128]; int v;
#pragma mapreduce mapper key(line) value(v) keylength(128)
  while (fgets(line, sizeof line, stdin)) {
    char b[LOOP];
    memset(b, line[0], sizeof b);
    line[strcspn(line, "\\n")] = 0;
    v = b[line[1] ? sizeof b - 1 : 0] + last(line);
    printf("%s\\t%d\\n", line, v);
  }
  return 0;
}
"""
DEEP = """
#include <stdio.h>
#include <string.h>
static int deep(int x) { char t[LOOP]; t[0] = (char)x; int y = t[0]; return x > 0 ? deep(x - 1) + y : 0; }
int main(void) {
  char line[128]; int v;
#pragma mapreduce mapper key(line) value(v) keylength(128)
  while (fgets(line, sizeof line, stdin)) {
    line[strcspn(line, "\\n")] = 0;
    v = deep(line[0] & 31);
    printf("%s\\t%d\\n", line, v);
  }
  return 0;
}
"""


@pytest.mark.parametrize(("text", "loop", "helper", "outcome"), [
    (LOCAL, 131000, 130000, "equal"), (LOCAL, 2000000, 1, "cpu-only"), (LOCAL, 1, 8000000, "cpu-only"),
    (DEEP, 100000, 1, "cpu-only"),
])
def test_the_bytes_are_the_filters(text: str, loop: int, helper: int, outcome: str, bundles: Bundles,
                                    tmp_path: Path) -> None:
    bundle = bundles.get(text.replace("LOOP", str(loop)).replace("HELPER", str(helper)))
    (tmp_path / "in").write_text("".join(f"{chr(65 + n % 50)} {n}\n" for n in range(300)))
    (verdict,) = verify(bundle, [str(tmp_path / "in")], RunOptions(device="emulated", reducers=1)).verdicts
    assert verdict.outcome == outcome, verdict
    assert outcome == "equal" or "each thread would need" in verdict.reason
    (verdict,) = verify(bundle, [str(tmp_path / "in")], RunOptions(reducers=1), host=True).verdicts
    assert (verdict.outcome == "cpu-only") == (outcome == "cpu-only"), verdict
