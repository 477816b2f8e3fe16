"""How filters are linked: with the C library inside where they may be, else bound to the version they were compiled with."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from heterodoop.toolchain import cc as toolchain
from heterodoop.toolchain import filter as toolchain_filter
from heterodoop.toolchain.cc import CcOptions

from ..support import Bundles, cli_here

PLAIN = "#include <stdio.h>\nint main(void) { int c; while ((c = getchar()) != EOF) putchar(c); return 0; }\n"
LOCALE = '#include <locale.h>\n#include <stdio.h>\nint main(void) { setlocale(LC_ALL, ""); puts("k\\t1"); return 0; }\n'
USER = "#include <pwd.h>\nint main(void) { return getpwuid(0) == 0; }\n"
# A machine with another version: the program's own function is found before the library's.
ELSEWHERE = 'const char *gnu_get_libc_version(void) { return "9.99"; }\n'


@pytest.mark.parametrize(("text", "linked"), [(PLAIN, "static"), (LOCALE, "dynamic"), (USER, "dynamic")])
def test_what_loads_parts_of_the_library_is_linked_with_it(text: str, linked: str, tmp_path: Path) -> None:
    (tmp_path / "m.c").write_text(text)
    assert toolchain_filter.build([tmp_path / "m.c"], tmp_path / "m", CcOptions()) == linked
    assert (b"ld-linux" in (tmp_path / "m").read_bytes()[:4096]) == (linked == "dynamic")
    assert subprocess.run([tmp_path / "m"], input=b"", check=False).returncode == 0
    assert {p.name for p in tmp_path.iterdir()} == {"m", "m.c"}


@pytest.mark.parametrize("cc", ["gcc -fsanitize=address", "gcc -pie"])
def test_words_that_forbid_it(cc: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", cc)
    (tmp_path / "m.c").write_text(PLAIN)
    assert toolchain_filter.build([tmp_path / "m.c"], tmp_path / "m", CcOptions()) == "dynamic"
    assert subprocess.run([tmp_path / "m"], input=b"abc", capture_output=True, check=True).stdout == b"abc"


def test_the_manifest_says_how_and_with_which_library(bundles: Bundles) -> None:
    for text, linked in ((PLAIN, "static"), (LOCALE, "dynamic")):
        made = json.loads((bundles.get(text) / "manifest.json").read_text())
        assert ([p["linked"] for p in made["programs"]], made["library"]) == ([linked], toolchain.library())
    assert toolchain.library().startswith("glibc 2.")


def test_a_filter_that_meets_another_library_ends_and_says_so(bundles: Bundles, tmp_path: Path) -> None:
    """A static one brings its own and does not look."""
    (tmp_path / "in").write_bytes(b"x\n")
    app = bundles.get(LOCALE + ELSEWHERE)
    done = cli_here("run", app, tmp_path / "in", "-o", tmp_path / "out", "--quiet", status=1)
    assert "HD520: this filter was compiled with glibc 2." in done.message and "glibc 9.99" in done.message
    cli_here("run", bundles.get(PLAIN + ELSEWHERE), tmp_path / "in", "-o", tmp_path / "fine", "--quiet")
