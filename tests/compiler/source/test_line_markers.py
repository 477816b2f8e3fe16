"""Places are those of the file that was read, whatever #line says: generators' output, debug words, files in files."""

from __future__ import annotations

import os
import random
import re
from pathlib import Path

import pytest

from heterodoop.compiler.lower.bind import bind
from heterodoop.compiler.source.frontend import load
from heterodoop.compiler.source.line_markers import read_lines
from heterodoop.diag import Sink
from heterodoop.source import SourceMap
from heterodoop.toolchain.cc import CcOptions, find_cc, run

from ...support import cli_here, cli_process, parts

SCANNER = """/* What a scanner generator writes: its own file's lines. */
#include <stdio.h>
#include <string.h>
#line 5 "words.re"
static int len(const char *s) { int n = 0; while (s[n] && s[n] != '\\n') n++; return n; }
#line 5 "map.c"
int main(void)
{
    char line[256];
    int n;
#line 12 "words.re"

#pragma mapreduce mapper key(line) value(n)
    while (fgets(line, sizeof(line), stdin) != NULL) {
        n = len(line);
#line 14 "map.c"
        line[n] = '\\0';
        printf("%s\\t%d\\n", line, n);
    }
    return 0;
}
"""


def places(folder: Path, main: str, words: tuple[str, ...] = ()) -> list[tuple[str, int, str, int]]:
    """(file, line) that was found for every `here_FILE_LINE` of preprocessed text, and the two that it says."""
    done = run([*find_cc(), *words, "-E", main], cwd=str(folder))
    assert done.returncode == 0, done.stderr
    sources = SourceMap()
    old = os.getcwd()
    os.chdir(folder)
    try:
        lines, _ = read_lines(done.stdout, {}, sources)
    finally:
        os.chdir(old)
    marks = [(line, m) for line in lines for m in re.finditer(r"here_([a-z]+)_(\d+)", line.text)]
    return [(line.file, line.line, f"{m[1]}.c", int(m[2])) for line, m in marks]


def random_file(rng: random.Random, name: str, includes: list[str]) -> str:
    """Lines that say where they stand, among directives of every kind; some stand in code that is left out."""
    rows: list[str] = []
    while len(rows) < 60:
        number = len(rows) + 1
        kind = rng.randrange(9)
        if kind == 0:
            rows.append(rng.choice(['#line {} "words.re"', '# {} "words.re"', '#line {} "' + name + '.c"', "#line {}",
                                    '  #  line {}  "words.re"  // said']).format(rng.randrange(1, 90)))
        elif kind == 1:
            rows += [""] * rng.randrange(1, 14)
        elif kind == 2 and includes:
            rows.append(f'#include "{rng.choice(includes)}.c"')
        elif kind == 3:
            rows += ["#if 0", f'#line {rng.randrange(1000, 2000)} "never.c"', "int nowhere;", "#endif"]
        elif kind == 4:
            rows += ["/* a", "   comment */"]
        else:
            rows.append(f"int here_{name}_{number};")
    return "\n".join(rows) + "\n"


@pytest.mark.parametrize("seed", range(40))
def test_every_line_has_its_place(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    (tmp_path / "leaf.c").write_text(random_file(rng, "leaf", []))
    (tmp_path / "middle.c").write_text(random_file(rng, "middle", ["leaf"]))
    (tmp_path / "top.c").write_text(random_file(rng, "top", ["leaf", "middle"]))
    found = places(tmp_path, "top.c", rng.choice([(), ("-g",), ("-ggdb3", "-g0"), ("-fworking-directory",)]))
    assert len(found) > 10
    assert [(file, line) for file, line, _, _ in found] == [(file, line) for _, _, file, line in found]


def test_a_line_that_a_macro_says(tmp_path: Path) -> None:
    (tmp_path / "top.c").write_text('#define N 40\n#define F "words.re"\nint here_top_3;\n#line N F\nint here_top_5;\n')
    assert [found[:2] == found[2:][::1] for found in places(tmp_path, "top.c")] == [True, True]


def test_a_scanners_program_is_compiled_and_told_of_by_its_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("map.c").write_text(SCANNER)
    Path("in").write_text("ab\nc\n")
    cli_here("compile", "map.c", "-o", "a.hdp", "--arch", "none")
    cli_here("run", "a.hdp", "in", "-o", "out", "--device", "emulated", "--quiet")
    assert parts(Path("out")) == [b"ab\t2\nc\t1\n"]
    unit = load("map.c", CcOptions())
    (region,) = bind(unit, Sink())
    assert (region.directive.span.file, region.directive.span.line) == ("map.c", 13) and unit.deps == ["map.c"]


def test_an_error_in_a_directive_stands_where_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("map.c").write_text(SCANNER.replace("value(n)", "value(m)"))
    done = cli_here("compile", "map.c", "-o", "a.hdp", status=3)
    assert done.message.startswith("map.c:13:") and "#pragma mapreduce mapper key(line) value(m)" in done.message


def test_a_preprocessed_file_is_a_file_like_others(tmp_path: Path) -> None:
    """Its markers stand in the text; what they say was read elsewhere, once."""
    (tmp_path / "map.c").write_text(SCANNER)
    done = run([*find_cc(), "-E", str(tmp_path / "map.c")])
    (tmp_path / "all.c").write_text(done.stdout)
    line = 1 + done.stdout.split("\n").index("#pragma mapreduce mapper key(line) value(n)")
    unit = load(tmp_path / "all.c", CcOptions())
    assert [d.span.line for d in unit.directives] == [line]


def test_a_file_without_a_name_is_one(tmp_path: Path) -> None:
    (tmp_path / "map.c").write_text(SCANNER.replace('#line 12 "words.re"', '#line 12 ""'))
    assert [d.span.line for d in load(tmp_path / "map.c", CcOptions()).directives] == [13]


def test_a_directive_in_what_is_marked_as_a_systems_text_is_none(tmp_path: Path) -> None:
    (tmp_path / "map.c").write_text(SCANNER.replace('#line 12 "words.re"', '# 12 "words.h" 1 3'))
    unit = load(tmp_path / "map.c", CcOptions())
    assert unit.directives == [] and unit.ast is not None and bind(unit, Sink()) == []


def test_a_path_beyond_ascii_under_a_locale_without_such_letters(tmp_path: Path) -> None:
    locale = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    folder = tmp_path / "größe"
    folder.mkdir()
    (folder / "länge.h").write_text("static const char *const there = __FILE__;\n", encoding="utf-8")
    text = SCANNER.replace("#line 5", '#include "länge.h"\n#line 5', 1)
    text = text.replace('"%s\\t%d\\n", line', '"%s%s\\t%d\\n", there, line')
    (folder / "wörter.c").write_text(text, encoding="utf-8")
    (folder / "in").write_text("ab\n")
    done = cli_process("compile", folder / "wörter.c", "-o", folder / "a.hdp", "--arch", "none", env=locale)
    assert done.status == 0 and b"CPU and GPU" in done.out + done.err, done.message
    arguments = (folder / "a.hdp", folder / "in", "-o", tmp_path / "out", "--quiet", "--device=emulated")
    done = cli_process("run", *arguments, env=locale)
    assert done.status == 0, done.message
    assert parts(tmp_path / "out") == [f"{folder}/länge.hab\t2\n".encode()]
    wrong = text.replace("value(n)", "value(m)")
    (folder / "wörter.c").write_text(wrong, encoding="utf-8")
    done = cli_process("compile", folder / "wörter.c", "-o", tmp_path / "a.hdp", env=locale)
    assert done.status == 3 and b":14:" in done.err and b"value(m)" in done.err, done.message
