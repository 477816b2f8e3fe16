"""What is kept of the user's C files: an answer is used again only where the compiler would give the same."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from heterodoop.errors import UserError
from heterodoop.toolchain import cc, kept
from heterodoop.toolchain import filter as toolchain_filter
from heterodoop.toolchain.cc import CcOptions, Output

PRINTS = '#include <stdio.h>\n#include "what.h"\nint main(void) { printf("%s\\n", WHAT); return 0; }\n'
Build = Callable[..., list[str]]


@pytest.fixture
def build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Build:
    """Builds a program of the text in a new folder; returns what of a compiler's work was done for it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("CC", raising=False)
    done: list[str] = []

    def run(argv: Sequence[str], **options: object) -> Output:
        done.extend(word for word in ("-c", "-static") if word in argv)
        return real(argv, **options)  # type: ignore[arg-type]

    real = cc.run
    monkeypatch.setattr(cc, "run", run)

    def build(text: str = PRINTS, what: str = '"x"', options: CcOptions | None = None, **more: object) -> list[str]:
        options, folder = options or CcOptions(), tmp_path / f"app{len(os.listdir(tmp_path))}"
        folder.mkdir()
        (folder / "what.h").write_text(f"#define WHAT {what}\n")
        (folder / "m.c").write_text(text)
        done.clear()
        said = kept.compile_object(folder / "m.c", folder / "m.o", options)
        cc.made_object(said, folder / "m.c", folder / "m.o")
        toolchain_filter.build([folder / "m.o"], folder / "m", options, **more)  # type: ignore[arg-type]
        done.append(subprocess.run([folder / "m"], capture_output=True, text=True, check=True).stdout.strip())
        return list(done)

    return build


def test_the_same_text_elsewhere_is_not_compiled_again(build: Build) -> None:
    assert build() == ["-c", "-static", "x"]
    assert build() == ["x"]


def test_another_header_macro_standard_or_library_is(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    build()
    assert build(what='"y"') == ["-c", "-static", "y"]
    assert build(PRINTS.replace("WHAT)", "WHAT  )")) == ["-c", "x"], "the object is the same, and its program"
    assert build(PRINTS.replace("WHAT", "NAME"), options=CcOptions(defines=('NAME="z"',))) == ["-c", "-static", "z"]
    assert build(options=CcOptions(std="gnu99"))[0] == "-c"
    assert build(options=CcOptions(libm="system"))[0] == "-c"
    assert build(options=CcOptions(libraries=("m",))) == ["-static", "x"]
    monkeypatch.setenv("LIBRARY_PATH", "/nowhere")
    assert build()[:2] == ["-c", "-static"]


@pytest.mark.parametrize(
    "text",
    [
        PRINTS.replace("WHAT)", "__builtin_FILE())"),
        PRINTS.replace("WHAT)", "__FILE__)"),
        PRINTS + 'asm(".section .rodata\\n.incbin \\"/etc/hostname\\"\\n.text");\n',
        PRINTS.replace("int main(void) {", "int main(void) { (void)(1 << 40);"),
    ],
    ids=["builtin path", "path", "assembler", "warning"],
)
def test_what_does_not_stand_in_the_text_is_asked_for_again(text: str, build: Build) -> None:
    assert build(text)[0] == "-c"
    assert build(text)[0] == "-c"


def test_words_of_cc_may_name_other_files(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "gcc -O1")
    assert build() == build() == ["-c", "-static", "x"]


def test_another_compiler_is_another_answer(build: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build()
    wrapper = tmp_path / "cc"
    wrapper.write_text('#!/bin/sh\nexec gcc "$@"\n')
    wrapper.chmod(0o755)
    monkeypatch.setenv("CC", str(wrapper))
    assert build()[0] == "-c"


def test_errors_are_said_each_time(build: Build) -> None:
    for _ in range(2):
        with pytest.raises(UserError, match="what_is_this"):
            build(PRINTS.replace("WHAT)", "what_is_this)"))
    for _ in range(2):
        with pytest.raises(UserError, match="linking failed"):
            build(PRINTS.replace("WHAT)", "other())").replace("int main", "char *other(void);\nint main"))


def test_a_program_that_is_bound_to_a_library_is_not_kept(build: Build) -> None:
    text = PRINTS.replace("int main(void) {", '#include <locale.h>\nint main(void) { setlocale(LC_ALL, "C");')
    for _ in range(2):
        assert "-static" in build(text)
