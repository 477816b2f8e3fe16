"""The text of what records gather: which updates are atomic. The emulated device would not see a missing one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from heterodoop.compiler.app import BuildOptions
from heterodoop.compiler.compile import compile_to_bundle
from heterodoop.compiler.spine import emit

from ...run.gathering_programs import program
from ...support import ROOT

BYTES = ROOT / "bench" / "programs" / "bytes.c"
BINS = ROOT / "bench" / "programs" / "bins.c"
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


@pytest.mark.parametrize(("macros", "where"), [([], "block_totals"), (["WIDE"], "totals")])
def test_members_are_gathered_each_by_its_place(macros: list[str], where: str) -> None:
    text = emit(BuildOptions.make([str(BINS)], arch=["none"], define=macros), "cuda")
    loop = text[text.index("while ((n =") : text.index("hd.finish();")]
    assert re.findall(r"hd::(gather\w*<hd::\w+>\([\w.>-]+(?:\[at\]\.\w+)?)", loop) == [
        "gather<hd::Sum>(hd.thread_totals.all.lines", "gather<hd::Sum>(hd.thread_totals.all.bytes",
        "gather<hd::GreatestReal>(hd.thread_totals.all.longest",
        *(f"gather_atomically<hd::{op}>(hd.{where}->bins[at].{name}" for op, name in (
            ("Sum", "lines"), ("AnyBits", "kinds"), ("LeastReal", "least"), ("GreatestReal", "most"), ("Sum", "bytes"))),
        "gather_atomically<hd::Sum>(hd.block_totals->ends_memory"], loop
    begun = "hd::nothing_by_block<hd::Sum>(hd::Part<long, 24, 128, 2, 40>::of(hd.block_totals->bins));" in text
    assert begun == (not macros)
    assert "hd::set_nothing<hd::GreatestReal>(hd::Part<double, 16, 1, 1, 8>::of(hd.thread_totals.all));" in text


@pytest.mark.parametrize("seed", [*range(6), 12, 15, 18, 20, 23])
def test_only_what_several_threads_have_is_atomic(seed: int, tmp_path: Path) -> None:
    """A GPU has no atomic operations on a thread's own memory: its launch fails."""
    (tmp_path / "map.c").write_text(program(seed))
    text = emit(BuildOptions.make([str(tmp_path / "map.c")], arch=["none"]), "cuda")
    found = re.findall(r"hd::(gather(?:_atomically)?)<[\w:]+>\(([^ ]*?hd\.\w+)(?:->|\.)", text[: text.index("hd.finish();")])
    assert found and all((how == "gather") == target.endswith("thread_totals") for how, target in found), found


def test_a_host_kernel_gathers_in_one_place() -> None:
    text = emit(BuildOptions.make([str(BYTES)], arch=["none"], define=["PAIRS"]), "host")
    assert re.findall(r"hd::(gather\w*<hd::\w+>\(hd_totals\.\w+)", text) == [
        "gather<hd::Sum>(hd_totals.lines", "gather<hd::Greatest>(hd_totals.longest", "gather<hd::Sum>(hd_totals.bytes",
        "gather<hd::Sum>(hd_totals.pairs"]
    assert "HD_MAIN(app::hd_map, app::Shared, false, &app::hd_totals, sizeof app::hd_totals)" in text
