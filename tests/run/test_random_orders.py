"""Random expressions of effects and reads: refused for devices where C leaves their order open, else the filter's bytes.

gcc's own warning about sequence points is a second opinion: what it names must be among what is refused.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from heterodoop.compiler import passes
from heterodoop.compiler.lower.bind import bind
from heterodoop.compiler.source.frontend import load
from heterodoop.diag import Sink
from heterodoop.engine.run.plan import RunOptions
from heterodoop.engine.verify.verify import verify
from heterodoop.toolchain.cc import CcOptions

from ..support import Bundles
from .random_orders import HEAD, function, program

pytestmark = pytest.mark.usefixtures("kernel_cache")
DEVICE = os.environ.get("HETERODOOP_TEST_DEVICE", "emulated")  # cuda: the same on a GPU
SEEDS = 100 if "HETERODOOP_SLOW" in os.environ else 1
FUNCTIONS = 60
TEXT = b"".join(b"x" * (length % 13) + b"\n" for length in range(1, 40))


@pytest.mark.parametrize("seed", range(SEEDS))
def test_an_expression_is_refused_or_gives_the_filters_bytes(seed: int, bundles: Bundles, tmp_path: Path) -> None:
    functions = [function(seed, number) for number in range(FUNCTIONS)]
    refused = _refused(program(functions), tmp_path)
    assert _warned(program(functions), tmp_path) <= refused
    kept = [text for number, text in enumerate(functions) if number not in refused]
    assert len(kept) > FUNCTIONS // 5 and len(refused) > FUNCTIONS // 5
    (tmp_path / "in").write_bytes(TEXT)
    bundle, inputs = bundles.get(program(kept)), [str(tmp_path / "in")]
    found = verify(bundle, inputs, RunOptions(device=DEVICE, reducers=1))
    for verdict in (*found.verdicts, *verify(bundle, inputs, RunOptions(reducers=1), host=True).verdicts):
        assert verdict.outcome == "equal", f"seed {seed}: {verdict.difference or verdict.reason}"


def _refused(source: str, folder: Path) -> set[int]:
    """Numbers of the functions that are refused for their order; nothing else may be."""
    path = folder / "map.c"
    path.write_text(source)
    unit = load(path, CcOptions())
    sink = Sink()
    reasons = passes.run(unit, bind(unit, sink)[0], sink).refusals
    assert {r.code for r in reasons} <= {"HD260"}, reasons
    return {int(r.place.split(":")[-2]) - HEAD.count("\n") - 1 for r in reasons}


def _warned(source: str, folder: Path) -> set[int]:
    path = folder / "warned.c"
    path.write_text(source)
    words = ["gcc", "-fsyntax-only", "-Wsequence-point", "-Wno-unknown-pragmas", str(path)]
    said = subprocess.run(words, capture_output=True, text=True, check=True).stderr
    return {int(line) - HEAD.count("\n") - 1 for line in re.findall(r"warned\.c:(\d+):\d+: warning: operation on", said)}
