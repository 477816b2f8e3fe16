"""Random loops that look for a place in a read-only table do on a lane what they do in the filter.

A program holds many loops over tables of every type: its key and value mix where each of them stopped. Tables are in the
program's text and the lane is sanitized, so that an element which is not there ends it.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from .kernels import build_filter, build_lane, emit, run
from .random_searches import LOOPS, program, records


@pytest.mark.parametrize("seed", range(2))
def test_random_searches(seed: int, tmp_path: Path) -> None:
    chosen = random.Random(seed)
    source = tmp_path / "searches.c"
    source.write_text(program(chosen))
    emitted, data = emit(source), records(chosen)
    assert emitted.text.count("hd::search_array(") > LOOPS // 4
    expected = run(build_filter(source), data)
    assert expected.status == 0 and expected.out
    assert run(build_lane(emitted), data, "165") == expected
