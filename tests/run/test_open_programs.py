"""Programs that C gives no one meaning, as people write them: refused for devices by name and place, run by the CPU."""

from __future__ import annotations

from pathlib import Path

import pytest

from heterodoop.compiler.app import BuildOptions
from heterodoop.compiler.compile import analyse

PROGRAMS = Path(__file__).parent / "open_programs"
FOUND = {  # file -> code and line of the first reason
    "order_args": ("HD260", 27), "order_compound": ("HD260", 23), "order_strtok": ("HD260", 14), "no_return": ("HD261", 5),
}


@pytest.mark.parametrize("name", FOUND)
def test_it_is_refused_by_name_and_place(name: str) -> None:
    code, line = FOUND[name]
    path = PROGRAMS / f"{name}.c"
    (program,) = analyse(BuildOptions.make([str(path)])).manifest.programs
    assert program.kernel is None and {r.code for r in program.gpu_refusals} == {code}
    assert program.gpu_refusals[0].place.startswith(f"{path}:{line}:")
