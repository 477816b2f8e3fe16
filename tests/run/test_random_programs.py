"""Random map programs and random records: kernels on a device and host kernels give the bytes of filters."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from heterodoop.engine.run.plan import RunOptions
from heterodoop.engine.verify.verify import verify

from ..support import Bundles
from .random_programs import program, text

pytestmark = pytest.mark.usefixtures("kernel_cache")
DEVICE = os.environ.get("HETERODOOP_TEST_DEVICE", "emulated")  # cuda: the same on a GPU
PROGRAMS = 200 if "HETERODOOP_SLOW" in os.environ else 4
FUNCTIONS = 6


@pytest.mark.parametrize("seed", range(PROGRAMS))
def test_a_random_program_gives_the_filters_bytes(seed: int, bundles: Bundles, tmp_path: Path) -> None:
    bundle = bundles.get(program(seed, FUNCTIONS))
    for number in range(3):
        (tmp_path / "in").write_bytes(text(seed * 3 + number))
        settings = [f"heterodoop.gpu.sub-split.bytes={(0, 64, 300)[number]}", f"heterodoop.emulated.seed={seed}"]
        found = verify(bundle, [str(tmp_path / "in")], RunOptions(device=DEVICE, reducers=number, settings=settings))
        as_host = verify(bundle, [str(tmp_path / "in")], RunOptions(reducers=number), host=True)
        for verdict in (*found.verdicts, *as_host.verdicts):
            assert verdict.difference is None, f"seed {seed}: {verdict.difference}"
            assert verdict.outcome == "equal" or "carriage return" in verdict.reason, f"seed {seed}: {verdict.reason}"
