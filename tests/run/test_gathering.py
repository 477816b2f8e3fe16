"""What records gather and the code behind the loop prints: random programs on a device and as host kernels give the
filters' bytes.

HETERODOOP_GATHERING=N makes it N programs instead of a handful.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from heterodoop import manifest
from heterodoop.engine.run.plan import RunOptions
from heterodoop.engine.verify.verify import Verification, verify

from ..support import ROOT, Bundles
from .gathering_programs import program, text

pytestmark = pytest.mark.usefixtures("kernel_cache")
DEVICE = os.environ.get("HETERODOOP_TEST_DEVICE", "emulated")  # cuda: the same on a GPU
COMBINE = (ROOT / "apps" / "wordcount" / "combine.c").read_text()  # reads ints; some of what is gathered is none
PROGRAMS = int(os.environ.get("HETERODOOP_GATHERING", "200" if "HETERODOOP_SLOW" in os.environ else "3"))


def verified(bundle: Path, data: bytes, folder: Path, settings: list[str], **options: int) -> Verification:
    (folder / "in").write_bytes(data)
    return verify(bundle, [str(folder / "in")], RunOptions(device=DEVICE, settings=settings, **options))  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", range(PROGRAMS))
def test_a_random_program_gives_the_filters_bytes(seed: int, bundles: Bundles, tmp_path: Path) -> None:
    bundle = bundles.get(program(seed), COMBINE if seed % 2 and "puts(line)" not in program(seed) else None)
    kernel = manifest.load(bundle).programs[0].kernel
    assert kernel is not None and kernel.epilogue, manifest.load(bundle).programs[0].gpu_refusals
    for number in range(3):
        settings = [f"heterodoop.gpu.sub-split.bytes={(0, 64, 600)[number]}", f"heterodoop.emulated.seed={seed}"]
        found = verified(bundle, text(seed * 3 + number), tmp_path, settings, reducers=number)
        for verdict in found.verdicts:
            assert (verdict.outcome, verdict.difference) == ("equal", None), f"seed {seed}: {verdict}\n{program(seed)}"
        options = RunOptions(reducers=number, split_size=(5000, 70, 500)[number])
        host = verify(bundle, [str(tmp_path / "in")], options, host=True)
        for verdict in (v for v in host.verdicts if v.kind == "map"):
            left = verdict.outcome == "cpu-only" and "does not read back" in verdict.reason
            equal = (verdict.outcome, verdict.difference) == ("equal", None)
            assert left or equal, f"seed {seed}: {verdict}\n{program(seed)}"
