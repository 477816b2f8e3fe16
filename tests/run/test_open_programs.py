"""Programs that C gives no one meaning, as people write them: refused for devices by name and place, run by the CPU."""

from __future__ import annotations

from pathlib import Path

import pytest

from heterodoop.compiler.app import BuildOptions
from heterodoop.compiler.spine import analyse
from heterodoop.engine.run.plan import RunOptions
from heterodoop.engine.verify.verify import verify

from ..support import Bundles

PROGRAMS = Path(__file__).parent / "open_programs"
FOUND = {  # file -> code and line of the first reason
    "order_args": ("HD260", 27), "order_compound": ("HD260", 23), "order_strtok": ("HD260", 14), "no_return": ("HD261", 5),
    "sprintf_self": ("HD262", 17),
}



@pytest.mark.parametrize("name", FOUND)
def test_it_is_refused_by_name_and_place(name: str) -> None:
    code, line = FOUND[name]
    path = PROGRAMS / f"{name}.c"
    (program,) = analyse(BuildOptions.make([str(path)])).manifest.programs
    assert program.kernel is None and {r.code for r in program.gpu_refusals} == {code}
    assert program.gpu_refusals[0].place.startswith(f"{path}:{line}:")


@pytest.mark.usefixtures("kernel_cache")
def test_text_copied_onto_itself_is_left_to_the_cpu(bundles: Bundles, tmp_path: Path) -> None:
    bundle = bundles.get((PROGRAMS / "strcpy_overlap.c").read_text())
    for text, outcome in (("plain\nlines\n", "equal"), ("plain\n trimmed\n", "cpu-only")):
        (tmp_path / "in").write_text(text)
        (verdict,) = verify(bundle, [str(tmp_path / "in")], RunOptions(device="emulated", reducers=1)).verdicts
        assert verdict.outcome == outcome, verdict
    assert "the source and the target of a copy overlap" in verdict.reason and "record 2" in verdict.reason
    assert "line 16" in verdict.reason
