"""The text of what records gather: which updates are atomic. The emulated device would not see a missing one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from heterodoop.compiler.app import BuildOptions
from heterodoop.compiler.compile import compile_to_bundle

from ...support import ROOT

BYTES = ROOT / "bench" / "programs" / "bytes.c"
OWN = ["gather<hd::Sum>(hd.thread_totals.lines", "gather<hd::Greatest>(hd.thread_totals.longest"]
BLOCK = ["gather_atomically<hd::Sum>(hd.block_totals->bytes"]
DEVICE = ["gather_atomically<hd::Sum>(hd.totals->pairs"]


@pytest.mark.parametrize(("macros", "wanted"), [([], [*OWN, *BLOCK]), (["PAIRS"], [*OWN, *BLOCK, *DEVICE])])
def test_what_several_threads_have_is_added_to_by_atomic_operations(
    macros: list[str], wanted: list[str], tmp_path: Path,
) -> None:
    options = BuildOptions.make([str(BYTES)], arch=["none"], define=macros)
    compile_to_bundle(options, tmp_path / "app.hdp")
    text = (tmp_path / "app.hdp" / "cuda" / "map.cu").read_text()
    loop = text[text.index("while ((n =") : text.index("hd.finish();")]
    assert re.findall(r"hd::(gather\w*<hd::\w+>\([\w.>-]+)", loop) == wanted, loop
