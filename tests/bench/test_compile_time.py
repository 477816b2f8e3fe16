"""The bench of compile times counts what it says, and a compile starts no more C compilers than it did."""

from __future__ import annotations

from pathlib import Path

from bench import compile_time
from heterodoop.toolchain import cc

ROOT = Path(__file__).resolve().parents[2]


def test_compilers_of_a_compile_are_counted(tmp_path: Path) -> None:
    anew, again = compile_time.Compile("here", ROOT, ROOT / "apps" / "wordcount", tmp_path).processes()
    assert again == 1  # which C library there is
    programs, prologues, machine = 3 * 4, 2, 1  # read for what is kept, and with stand-ins, compiled, linked
    # Headers of newer C libraries lead scanf to a C23 one: who names it, and be it in a comment, is read with them too.
    again_with_headers = 0 if cc.before_c23(cc.library()) else 2
    assert anew == programs + prologues + machine + again_with_headers
