"""C as it is taken: of each form devices and host kernels give the filter's bytes, or leave its task to the filter."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from heterodoop.engine.run.plan import RunOptions
from heterodoop.engine.verify.verify import Verdict, verify

from ..support import Bundles
from . import callback_programs, heap_programs, stack_programs

pytestmark = pytest.mark.usefixtures("kernel_caches")
DEVICE = os.environ.get("HETERODOOP_TEST_DEVICE", "emulated")  # cuda: the same on a GPU
WORDS = ("", "one", "two one two", "a bb ccc dddd ccc bb a", "sixteen-letters-are-not-all the rest", "x " * 40, "mar",
         "end of it")
MODULES = {"heap": heap_programs, "callbacks": callback_programs, "stack": stack_programs}
Left = dict[str, tuple[str, str, str]]


@pytest.mark.parametrize("module", MODULES)
def test_each_function_gives_the_filters_bytes_or_the_reason(module: str, bundles: Bundles, tmp_path: Path) -> None:
    """A split for each function, so that what one leaves does not hide the others."""
    equal, left, program = MODULES[module].EQUAL, MODULES[module].LEFT, MODULES[module].program()
    letters = [*(chr(97 + i) for i in range(len(equal))), *(chr(65 + i) for i in range(len(left)))]
    names = [*equal, *left]
    for name, letter in zip(names, letters, strict=True):
        (tmp_path / name).write_text("".join(f"{letter} {words}\n" for words in WORDS))
    inputs, bundle = [str(tmp_path / name) for name in names], bundles.get(program)
    device = verify(bundle, inputs, RunOptions(device=DEVICE, reducers=0)).verdicts
    host = verify(bundle, inputs, RunOptions(reducers=0), host=True).verdicts
    for name, on_device, on_host in zip(names, device, host, strict=True):
        _check(name, left, on_device, "device")
        _check(name, left, on_host, "host")


def _check(name: str, left: Left, verdict: Verdict, where: str) -> None:
    why, who, _ = left.get(name, ("", "", ""))
    if who not in (where, "both"):
        assert verdict.outcome == "equal" and verdict.records == len(WORDS), (name, where, verdict)
    else:
        assert verdict.outcome == "cpu-only" and why in verdict.reason, (name, where, verdict)
