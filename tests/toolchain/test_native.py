"""Building the native runtime: what happens without a compiler, with a faulty file, and that nothing half-made is left."""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from heterodoop.errors import ToolError
from heterodoop.toolchain import native

SOURCE = 'extern "C" int answer() { return 42; }\n'


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "a b's.cpp"
    path.write_text(SOURCE)
    return path


def test_a_library_is_made_and_loads(source: Path, tmp_path: Path) -> None:
    other = tmp_path / "sub" / source.name
    other.parent.mkdir()
    other.write_text("int hidden() { return 1; }\n")
    made = native.compile_library([source, other], tmp_path / "new" / "lib.so")
    assert ctypes.CDLL(str(made)).answer() == 42
    assert os.listdir(made.parent) == ["lib.so"]


def test_no_compiler_is_one_message(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler -x")
    with pytest.raises(ToolError, match="C\\+\\+ compiler not found: no-such-compiler") as caught:
        native.compile_library([source], tmp_path / "lib.so")
    assert caught.value.code == "HD510" and "apt install g++" in caught.value.help


def test_a_faulty_file_keeps_the_old_library_and_shows_the_compiler_s_words(source: Path, tmp_path: Path) -> None:
    target = native.compile_library([source], tmp_path / "out" / "lib.so")
    before = target.read_bytes()
    source.write_text("int main() { return nonsense; }\n")
    with pytest.raises(ToolError, match="nonsense") as caught:
        native.compile_library([source], target)
    assert caught.value.code == "HD510"
    assert target.read_bytes() == before and os.listdir(target.parent) == ["lib.so"]


SHARED = f"*-include {native.PRECOMPILED}*"


@pytest.mark.parametrize("refused", ["nothing", "*c++-header*", SHARED])
def test_many_sources_share_what_they_include(refused: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the compiler can; a build does not fail where it cannot. Those of a folder are compiled as one."""
    compiler = tmp_path / "compiler"
    pattern = refused.replace(" ", "\\ ")
    compiler.write_text(
        f'#!/bin/sh\necho "$@" >> {tmp_path}/runs\ncase "$*" in {pattern}) echo no >&2; exit 1;; esac\nexec g++ "$@"\n')
    compiler.chmod(0o755)
    monkeypatch.setenv("CXX", str(compiler))
    folders = [tmp_path / f"folder{number}" for number in range(native.WORTHWHILE)]
    sources = [folder / f"{number}{which}.cpp" for number, folder in enumerate(folders) for which in "ab"]
    for path in sources:
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#include <cstddef>\n{SOURCE.replace('answer', f'answer{path.stem}')}")
    made = ctypes.CDLL(str(native.compile_library(sources, tmp_path / "out" / "lib.so")))
    assert [getattr(made, f"answer{path.stem}")() for path in sources] == [42] * len(sources)
    runs = (tmp_path / "runs").read_text().splitlines()
    with_it, plain = (sum(" -c " in run and (native.PRECOMPILED in run) is given for run in runs) for given in (True, False))
    many = len(folders)
    assert (with_it, plain) == {"nothing": (many, 0), "*c++-header*": (0, many), SHARED: (many, many)}[refused]
    assert sum("c++-header" in run for run in runs) == 1 and os.listdir(tmp_path / "out") == ["lib.so"]


def test_no_source_at_all_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="no .cpp file"):
        native.compile_library([], tmp_path / "lib.so")


def test_the_sanitizer_build_finds_a_fault(source: Path, tmp_path: Path) -> None:
    source.write_text('extern "C" int answer(int n) { int *p = new int[n](); int x = p[n]; delete[] p; return x; }\n')
    library = native.compile_library([source], tmp_path / "lib.so", sanitize=True)
    argv = [sys.executable, "-c", f"import ctypes; ctypes.CDLL({str(library)!r}).answer(4)"]
    environment = {**os.environ, **native.sanitizer_preload()}
    done = subprocess.run(argv, env=environment, capture_output=True, text=True, check=False)
    # AddressSanitizer's words, or those of newer compilers' UndefinedBehaviorSanitizer, which looks before it.
    assert done.returncode != 0 and re.search("heap-buffer-overflow|insufficient space", done.stderr)


@pytest.mark.parametrize(("value", "wanted"), [("", False), ("0", False), ("1", True)])
def test_the_switch_for_the_sanitizer_build(value: str, wanted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HETERODOOP_SANITIZE", value)
    assert native.wants_sanitizer() is wanted


def test_the_runtime_s_sources_are_found() -> None:
    names = {path.name for path in native.native_sources()}
    assert {"collector.cpp", "records.cpp", "tasks.cpp"} <= names
