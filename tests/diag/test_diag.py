"""Every tests/diag/*.c says in its own comments what the front end must say about it.

    // ERROR HD104 "regex"       on the line that the message must point at; also WARNING and REFUSED (no analysis)
    // ERROR@-2 HD104 "regex"    two lines up, where the line itself can hold no comment
    // role: map                 anywhere: which program the file is given as
    // flags: -DN=3 -Isub -std=c11

What is not announced must not be said. Files that have a .expected beside them are also compared as rendered text, char
by char; HD_BLESS=1 writes those.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from heterodoop.compiler.lower.bind import bind
from heterodoop.compiler.source.frontend import load
from heterodoop.diag import Diagnostic, Sink, render
from heterodoop.errors import UserError
from heterodoop.hdcodes import CODES
from heterodoop.source import SourceMap
from heterodoop.toolchain.cc import CcOptions

HERE = Path(__file__).parent
MARK = re.compile(r'(?:ERROR|WARNING|REFUSED)(?:@-(\d+))? (HD\d+) "((?:[^"\\]|\\.)*)"')
PROGRAMS = sorted(p.name for p in HERE.glob("*.c"))


def options(text: str) -> CcOptions:
    flags = " ".join(re.findall(r"// flags: (.*)", text)).split()
    std = next((f[5:] for f in flags if f.startswith("-std=")), "gnu11")
    return CcOptions(
        includes=tuple(f[2:] for f in flags if f[:2] == "-I"), defines=tuple(f[2:] for f in flags if f[:2] == "-D"), std=std,
    )


def diagnose(name: str, text: str) -> tuple[list[Diagnostic], SourceMap]:
    role = re.search(r"// role: (map|combine|reduce)", text)
    sink = Sink()
    try:
        unit = load(name, options(text))
    except UserError as error:
        return list(error.diagnostics), SourceMap()
    bind(unit, sink, role[1] if role else None)  # type: ignore[arg-type]
    found = sorted(sink.diagnostics, key=lambda d: (d.span.line, d.span.col) if d.span else (0, 0))
    if unit.refusal:
        found.append(Diagnostic("note", unit.refusal.code, f"{unit.refusal.message} [{unit.refusal.place}]"))
    return found, unit.sources


def place(diagnostic: Diagnostic) -> tuple[str, int]:
    if diagnostic.span:
        return diagnostic.span.file, diagnostic.span.line
    file, line = re.search(r"\[(.*?):(\d+)", diagnostic.message).groups()  # type: ignore[union-attr]
    return file, int(line)


@pytest.mark.parametrize("name", PROGRAMS)
def test_messages_are_those_announced(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(HERE)
    wanted = []
    for file in [name, *re.findall(r'#include "(\w+\.h)"', Path(name).read_text())]:
        for number, line in enumerate(Path(file).read_text().split("\n"), 1):
            wanted += [(file, number - int(up or 0), code, pattern) for up, code, pattern in MARK.findall(line)]
    found, sources = diagnose(name, Path(name).read_text())
    unexpected = list(found)
    for file, number, code, pattern in wanted:
        hits = [d for d in unexpected if place(d) == (file, number) and d.code == code and re.search(pattern, d.message)]
        assert hits, f"{file}:{number}: no {code} {pattern!r} among\n" + "\n".join(render(d, sources) for d in found)
        unexpected.remove(hits[0])
    assert not unexpected, "\n".join(render(d, sources) for d in unexpected)
    assert {d.code for d in found} <= set(CODES)


@pytest.mark.parametrize("name", [n for n in PROGRAMS if (HERE / f"{n[:-2]}.expected").exists()])
def test_rendered_text(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(HERE)
    found, sources = diagnose(name, Path(name).read_text())
    text = "\n".join(render(d, sources) for d in found) + "\n"
    expected = HERE / f"{name[:-2]}.expected"
    if os.environ.get("HD_BLESS"):
        expected.write_text(text)
    assert text == expected.read_text()


def test_there_are_programs() -> None:
    assert len(PROGRAMS) >= 20
