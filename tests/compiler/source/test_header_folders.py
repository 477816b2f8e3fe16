"""Folders of headers that the user or his machine names: the stand-ins come before the system's headers all the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from heterodoop.errors import UserError
from heterodoop.toolchain import cc
from heterodoop.toolchain.cc import CcOptions

from .test_frontend import load_text

TEXT = """#include <stdio.h>
#include <float.h>
#include <limit.h>
int f(double x) { return puts("") < 0 && x < LIMIT; }
"""
STANDARD = cc.header_folders(tuple(cc.find_cc()))


@pytest.mark.parametrize("how", ["CPATH", "C_INCLUDE_PATH", "-I"])
def test_the_systems_headers_do_not_come_back(how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where modules of a cluster, or a make file, name the compiler's own folders among others."""
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "limit.h").write_text("#define LIMIT (DBL_MAX / 2)\n")
    (tmp_path / "link").symlink_to(next(folder for folder in STANDARD if (Path(folder) / "float.h").exists()))
    folders = (str(tmp_path / "link"), *STANDARD, str(tmp_path / "own"))
    options = CcOptions(includes=folders if how == "-I" else ())
    if how != "-I":
        monkeypatch.setenv(how, ":".join(folders))
    unit = load_text(tmp_path, TEXT, options)
    assert unit.refusal is None and unit.ast is not None


def test_a_wrapper_of_a_compiler_that_was_moved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It names the compiler's own folders as the system's, before any that it is told of."""
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "limit.h").write_text("#define LIMIT (DBL_MAX / 2)\n")
    wrapper = tmp_path / "cc"
    named = " ".join(f"-isystem {folder}" for folder in sorted(STANDARD))
    wrapper.write_text(f'#!/bin/sh\nexec {cc.find_cc()[0]} {named} "$@"\n')
    wrapper.chmod(0o755)
    monkeypatch.setenv("CC", str(wrapper))
    unit = load_text(tmp_path, TEXT, CcOptions(includes=(str(tmp_path / "own"),)))
    assert unit.refusal is None and unit.ast is not None


@pytest.mark.parametrize(("value", "found"), [("", False), (":/usr/include", True), ("/usr/include:", True)])
def test_an_empty_folder_in_a_variable_is_the_working_folder(
    value: str, found: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "limit.h").write_text("#define LIMIT 3\n")
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("CPATH", value)
    text = "#if __has_include(<limit.h>)\n#include <limit.h>\n#else\n#define LIMIT 4\n#endif\nint x[LIMIT == 3 ? 1 : -1];\n"
    if found:
        assert load_text(tmp_path, text).refusal is None
    else:
        with pytest.raises(UserError):
            load_text(tmp_path, text)
