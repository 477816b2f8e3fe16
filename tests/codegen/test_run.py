"""Generated kernels do what the C programs do: the same bytes, without undefined behaviour, whatever private storage holds.

Each program is built once, sanitized, and run in one lane (lane_main.cpp); the CPU filter of the same source is the oracle.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from .inputs import INPUTS
from .kernels import FAILED, HERE, Done, build_filter, build_lane, emit, run

PROGRAMS = HERE / "programs"


@pytest.mark.parametrize("name", INPUTS)
def test_a_kernel_prints_what_the_filter_prints(name: str, tmp_path: Path) -> None:
    source = PROGRAMS / f"{name}.c"
    data = INPUTS[name]
    expected = run(build_filter(source), data)
    assert expected.status == 0 and expected.out
    lane = build_lane(emit(source))
    for pattern in ("0", "165", "255"):
        assert run(lane, data, pattern) == expected


@pytest.fixture(scope="module")
def failures() -> Path:
    return build_lane(emit(PROGRAMS / "failures.c"))


STATUS = {
    "division by zero": ("d", 4), "the smallest integer by -1": ("m-1", 4), "a remainder by zero": ("m0", 4),
    "exit": ("e", 3), "a failed assert": ("a", 3), "a NaN": ("n", 10), "deep recursion": ("r100", 7), "no newline": ("u", 5),
}


@pytest.mark.parametrize("case", STATUS)
def test_what_only_the_cpu_can_decide_ends_the_lane(case: str, failures: Path) -> None:
    line, status = STATUS[case]
    assert run(failures, f"before\n{line}\n".encode()) == Done(FAILED + status, b"", b"")


def test_what_is_allowed_goes_on(failures: Path) -> None:
    done = run(failures, b"hello\nm7\nr60\n")
    assert (done.status, done.out) == (0, b"hello\n-2\n60\n")
