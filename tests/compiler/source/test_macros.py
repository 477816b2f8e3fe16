"""Macros of a program where its directives are, and when a C compiler must be asked for them, or for the program, again."""

from __future__ import annotations

from pathlib import Path

import pytest

from heterodoop.compiler.source import macros, preprocess
from heterodoop.compiler.source.frontend import Unit, load
from heterodoop.compiler.source.line_markers import PpLine
from heterodoop.toolchain import cc
from heterodoop.toolchain.cc import CcOptions, Output

PRAGMA = "#pragma mapreduce mapper key(k) value(v) keylength(KLEN) vallength(1)"
BODY = f"""\
int main(void) {{
  char k[24]; int v;
{PRAGMA}
  while (scanf("%23s %d", k, &v) == 2) printf("%s\\t%d\\n", k, v);
}}
"""
HEAD = "#include <stdio.h>\n"


def line(text: str, system: bool = False) -> PpLine:
    return PpLine("sys.h" if system else "a.c", 1, text, system)


def test_macros_at_directives_are_those_defined_by_then() -> None:
    lines = [
        line("#define A 1"), line("#define F(x) (x)"), line("#define B A"), line("#pragma mapreduce mapper"),
        line("#undef A"), line("#define B (2 + 3)"), line("#pragma mapreduce combiner"), line("int x;", system=True),
        line("#define C 4"), line("#pragma mapreduce mapper"), line('#pragma pop_macro("C")'),
        line("#pragma mapreduce mapper"),
    ]
    found = macros.at_directives(lines, "a.c")
    assert found == [{"A": "1", "B": "A"}, {"B": "(2 + 3)"}, {"C": "4"}, {}]
    assert macros.at_directives(lines, "b.c") == []


@pytest.mark.parametrize(("text", "expansion"), [
    ("A", "0x10UL"), ("B", "0x10UL"), ("C", "(2 + 3)"), ("D", None), ("E", None), ("F", None), ("G", None), ("A + 1", None),
    ("12", None),
])
def test_a_macro_is_a_number_or_the_compiler_is_asked(text: str, expansion: str | None) -> None:
    known = {"A": "0x10UL", "B": "A", "C": "(2  + 3)", "D": "A + 1", "E": "F", "F": "E", "G": "sizeof(k)"}
    assert macros.number(text, known) == expansion


def runs(monkeypatch: pytest.MonkeyPatch, path: Path, text: str) -> tuple[Unit, list[str]]:
    """The program's unit, and what the compiler was started for: with which headers, or for arguments of directives."""
    asked: list[str] = []
    real_run = cc.run

    def run(argv: list[str], **others: object) -> Output:
        asked.append("stand-ins" if "-nostdinc" in argv else "arguments" if argv[-1] == "-" else "system")
        return real_run(argv, **others)  # type: ignore[arg-type]

    cc.library()
    path.write_text(text)
    with monkeypatch.context() as patch:
        patch.setattr(preprocess.toolchain, "run", run)
        unit = load(path, CcOptions())
    asked.remove("system")  # the judgement
    return unit, asked


@pytest.mark.parametrize(("text", "also"), [
    ("#define KLEN 24\n", []),
    ("#define N 24\n#define KLEN N\n", []),
    ("#ifndef KLEN\n#define KLEN 24\n#endif\n", ["system"]),
    ("#if 1\n#define KLEN 24\n#endif\n", ["system"]),
    ("#define NAME <stdlib.h>\n#include NAME\n#define KLEN 24\n", ["system"]),
    ("#define KLEN (2 * N)\n#define N 12\n", ["arguments"]),
    ("#define KLEN 24\n#include <ctype.h>\n", ["arguments"]),  # which may define it, too
])
def test_the_preprocessor_runs_again_only_where_it_must(
    text: str, also: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cc, "library", lambda: "glibc 2.36")
    unit, asked = runs(monkeypatch, tmp_path / "a.c", HEAD + text + BODY)
    assert unit.refusal is None and sorted(asked) == sorted(["stand-ins", *also])
    clause = unit.directives[0].clause("keylength")
    assert clause is not None and eval(clause.args[0].expanded) == 24  # all of it is Python's, too


def test_newer_libraries_are_looked_into(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = HEAD + "#define KLEN 24\n" + BODY
    for library in ("glibc 2.38", "glibc 3.0", "unknown"):
        monkeypatch.setattr(cc, "library", lambda library=library: library)
        assert runs(monkeypatch, tmp_path / "a.c", text)[1] == ["stand-ins", "system"]
        others = text.replace('scanf("%23s %d", k, &v) == 2', "getchar() != EOF")
        assert runs(monkeypatch, tmp_path / "b.c", others)[1] == ["stand-ins"]
