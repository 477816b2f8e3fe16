"""What a record has not written is not read on a device: random programs give the filter's bytes, or their task the CPU."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from heterodoop.engine.run.plan import RunOptions
from heterodoop.engine.verify.verify import verify

from ..support import Bundles
from .unwritten_programs import program, text

pytestmark = pytest.mark.usefixtures("kernel_cache")
DEVICE = os.environ.get("HETERODOOP_TEST_DEVICE", "emulated")  # cuda: the same on a GPU
PROGRAMS = int(os.environ.get("HETERODOOP_UNWRITTEN", "200" if "HETERODOOP_SLOW" in os.environ else "2"))
FUNCTIONS, INPUTS = 12, 4
LEFT = ("has not written", "behind the end of a line")


@pytest.mark.parametrize("seed", range(PROGRAMS))
def test_a_random_program_reads_what_its_record_wrote(seed: int, bundles: Bundles, tmp_path: Path) -> None:
    """Each input, of one function's records, is a split of its own."""
    rng = random.Random(seed)
    bundle = bundles.get(program(seed, FUNCTIONS))
    inputs = [tmp_path / f"{number}-{which}" for number in range(FUNCTIONS) for which in range(INPUTS)]
    for path in inputs:
        path.write_bytes(text(rng, int(path.name.partition("-")[0])))
    found = verify(bundle, [str(path) for path in inputs], RunOptions(device=DEVICE, reducers=0))
    host = verify(bundle, [str(path) for path in inputs], RunOptions(reducers=0), host=True)
    for one in (found, host):
        assert not one.count("different"), [v for v in one.verdicts if v.outcome == "different"]
        left = [v.reason for v in one.verdicts if v.outcome == "cpu-only"]
        assert all(any(words in reason for words in LEFT) for reason in left), left
        assert one.count("equal") and left
