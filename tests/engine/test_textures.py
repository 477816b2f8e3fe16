"""The texture clause, whole jobs on the emulated device: every number type through a texture object of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from heterodoop import manifest
from heterodoop.engine.run.plan import RunOptions
from heterodoop.engine.verify.verify import verify

pytestmark = pytest.mark.usefixtures("kernel_cache")
PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
typedef %s number;
int main(void) {
  number table[300];
  char *line = NULL;
  size_t cap = 0;
  int i, at;
  for (i = 0; i < 300; i++) table[i] = (number)(i %% 2 ? -i * 3 : i * 700);
#pragma mapreduce mapper key(at) value(at) texture(table)
  while (getline(&line, &cap, stdin) != -1) {
    at = atoi(line);
    printf("%%d\t%s\n", at, table[at]);
  }
  return 0;
}
"""
TYPES = [
    ("signed char", "%d", "int8"), ("unsigned char", "%d", "uint8"), ("short", "%d", "int16"),
    ("unsigned short", "%d", "uint16"), ("int", "%d", "int32"), ("unsigned", "%u", "uint32"), ("float", "%.9g", "float32"),
    ("long", "%ld", "int32x2"), ("unsigned long", "%lu", "int32x2"), ("double", "%.17g", "int32x2"),
]


@pytest.mark.parametrize(("type", "conversion", "texel"), TYPES)
def test_every_number_type(bundles, tmp_path: Path, type: str, conversion: str, texel: str) -> None:
    bundle = bundles.get(PROGRAM % (type, conversion))
    kernel = manifest.load(bundle).programs[0].kernel
    assert kernel is not None and [(v.kind, v.texel) for v in kernel.shared] == [("texture", texel)]
    path = tmp_path / "in"
    path.write_text("".join(f"{i}\n" for i in range(0, 300, 7)))
    (verdict,) = verify(bundle, (str(path),), RunOptions(device="emulated"), tell=lambda verdict: None).verdicts
    assert (verdict.outcome, verdict.pairs) == ("equal", 43)
