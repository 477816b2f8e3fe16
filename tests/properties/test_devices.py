"""Random bytes, splits and device settings: every map task has the CPU's result in every configuration of the device."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heterodoop.engine.run.plan import RunOptions
from heterodoop.engine.verify.verify import verify

from ..support import ROOT, Bundles
from .test_engine import DOUBLE_SUM, DOUBLES, SUM, SUM_REDUCE, WORDS

GREP = tuple((ROOT / "apps" / "grep" / f"{role}.c").read_text() for role in ("map", "combine", "reduce"))
APPS = {"word count": (WORDS, SUM, SUM_REDUCE), "grep": GREP, "sums of doubles": (DOUBLES, DOUBLE_SUM, "")}
PIECES = [b"a", b"b", b"ab", b" ", b"\t", b"\n", b"\r\n", b"\r", b"\0", b"\xff", b"\xc3\xa9", b"longer-word-of-a-text", b"0"]

TEXTS = st.lists(st.sampled_from(PIECES), max_size=120).map(b"".join)
DEVICE = st.fixed_dictionaries({
    "heterodoop.gpu.sub-split.bytes": st.sampled_from([0, 1, 16, 100]),
    "heterodoop.gpu.arena.bytes": st.sampled_from([0, 1]),
    "heterodoop.emulated.seed": st.integers(0, 1 << 62),
    "heterodoop.sort.bytes": st.sampled_from([0, 4096]),
})


NAME = os.environ.get("HETERODOOP_TEST_DEVICE", "emulated")  # cuda: the same on a GPU
pytestmark = pytest.mark.usefixtures("kernel_cache")


@pytest.mark.parametrize("name", APPS)
@settings(max_examples=15)
@given(data=TEXTS, split=st.integers(1, 200), reducers=st.integers(0, 3), device=DEVICE)
def test_the_device_gives_what_the_cpu_gives(
    name: str, bundles: Bundles, tmp_path: Path, data: bytes, split: int, reducers: int, device: dict[str, int],
) -> None:
    if name == "word count":  # its combiner prints a key up to a NUL only, which fails the job on the CPU
        data = data.replace(b"\0", b"n")
    (tmp_path / "in").write_bytes(data)
    chosen = ["grep.pattern=ab", *(f"{key}={value}" for key, value in device.items())]
    options = RunOptions(
        device=NAME, split_size=max(split, len(data) // 8), reducers=reducers, settings=chosen, cpu_slots=2,
    )
    found = verify(bundles.get(*APPS[name]), [str(tmp_path / "in")], options)
    for verdict in found.verdicts:
        assert verdict.outcome != "different", verdict
        assert verdict.outcome == "equal" or "carriage return" in verdict.reason or "NaN" in verdict.reason, verdict.reason
