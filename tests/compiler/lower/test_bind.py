"""Directives and the statements, scopes and roles they are bound to. Messages are tested by tests/diag."""

from __future__ import annotations

from pathlib import Path

import pytest
from pycparser import c_ast

from heterodoop.compiler.lower.bind import BoundRegion, bind
from heterodoop.compiler.source.frontend import Unit, load
from heterodoop.diag import Diagnostic, Sink
from heterodoop.toolchain.cc import CcOptions

LOOP = "{}int main(void) {{ int n = 0, m = 0; {}\n#pragma mapreduce {}\n  while (n < 3) n++;\n  return m; }}\n"


def compile_text(tmp_path: Path, text: str, role: str | None = None) -> tuple[Unit, list[BoundRegion], list[Diagnostic]]:
    path = tmp_path / "p.c"
    path.write_text(text)
    unit = load(path, CcOptions())
    assert unit.refusal is None
    sink = Sink()
    return unit, bind(unit, sink, role), sink.diagnostics  # type: ignore[arg-type]


def test_the_papers_combiner(tmp_path: Path) -> None:
    unit, regions, found = compile_text(tmp_path, """#include <stdio.h>
#include <string.h>
int main() {
  char word[30], prevWord[30]; prevWord[0] = '\\0';
  int count, val, read; count = 0;
  #pragma mapreduce combiner key(prevWord) value(count) \\
      keyin(word) valuein(val) keylength(30) vallength(1) \\
      firstprivate(prevWord, count)
  {
    while ((read = scanf("%s %d", word, &val)) == 2) {
      if (strcmp(word, prevWord) == 0) count += val;
      else { if (prevWord[0] != '\\0') printf("%s\\t%d\\n", prevWord, count); strcpy(prevWord, word); count = val; }
    }
    if (prevWord[0] != '\\0') printf("%s\\t%d\\n", prevWord, count);
  }
  return 0;
}
""", "combine")
    assert found == []
    (region,) = regions
    assert (region.key, region.value, region.keyin, region.valuein) == ("prevWord", "count", "word", "val")
    assert (region.keylength, region.vallength, region.firstprivate) == (30, 1, ("prevWord", "count"))
    assert isinstance(region.stmt, c_ast.Compound) and region.func.decl.name == "main"
    assert [type(n).__name__ for n in region.before] == ["Decl"] * 2 + ["Assignment"] + ["Decl"] * 3 + ["Assignment"]
    assert [type(n).__name__ for n in region.after] == ["Return"]
    assert str(region.scope["prevWord"].ctype) == "char[30]" and str(region.scope["prevWord"].span).endswith("p.c:4:18")


SCOPES = """
struct pair { int a; double b; };
static int counter; int shared; extern int elsewhere;
static int helper(int x) { int inner = x; return inner; }
int run(int argc, char *argv[], char text[10]) {
  int outer = 1, hidden = 2; static long kept; struct pair both = {0};
  { int gone = 3; (void)gone; }
  if (argc) {
    char hidden[4] = ""; int helper = 0; enum { outer_size = 2 };
    for (int i = 0; i < 2; i++) {
      #pragma mapreduce mapper key(hidden) value(shared)
      while (argc--) { int later = 0; counter += later + helper + i + outer + hidden[0] + both.a + kept + outer_size; }
    }
  }
  return helper(outer) + (argv == 0) + text[0] + hidden;
}
int main(void) { return run(0, 0, 0); }
"""


def test_scope_is_what_is_visible_at_the_directive(tmp_path: Path) -> None:
    _, regions, found = compile_text(tmp_path, SCOPES)
    assert found == []
    (region,) = regions
    shown = {name: (str(s.ctype), s.storage) for name, s in region.scope.items()}
    assert shown == {
        "counter": ("int", "static"), "shared": ("int", "global"), "elsewhere": ("int", "global"),
        "argc": ("int", "param"),
        "argv": ("char * *", "param"), "text": ("char *", "param"), "outer": ("int", "local"),
        "hidden": ("char[4]", "local"),
        "kept": ("long", "static"), "both": ("struct pair", "local"), "helper": ("int", "local"), "i": ("int", "local"),
    }
    assert region.layouts.table["pair"].size == 16 and region.keylength == 4
    assert region.scope["text"].decl.name == "text" and region.func.decl.name == "run"


def test_a_name_hidden_by_something_else_is_no_variable(tmp_path: Path) -> None:
    text = LOOP.format("int k;\n", "enum { k = 3 };", "mapper key(k)")
    _, regions, found = compile_text(tmp_path, text)
    assert regions == [] and [d.code for d in found] == ["HD112"] and found[0].notes[0].span is not None


@pytest.mark.parametrize(
    ("statement", "kind"),
    [
        ("while (n < 3) n++;", c_ast.While), ("do n++; while (n < 3);", c_ast.DoWhile),
        ("for (; n < 3; n++) ;", c_ast.For),
        ("for (int i = 0; i < 3; i++) n++;", c_ast.For),
        ("read: while (n < 3) n++; if (n < 0) goto read;", c_ast.While),
    ],
)
def test_every_kind_of_loop(statement: str, kind: type, tmp_path: Path) -> None:
    text = f"int main(void) {{ int n = 0;\n#pragma mapreduce mapper key(n)\n{statement}\nreturn 0; }}\n"
    _, regions, found = compile_text(tmp_path, text)
    assert found == [] and type(regions[0].stmt) is kind


@pytest.mark.parametrize("where", ["if (n == 0)", "else_", "while (n < 5)", "switch (n) { case 0: n = 1; default:"])
def test_directive_below_other_statements(where: str, tmp_path: Path) -> None:
    head = "if (n) n = 2; else" if where == "else_" else where
    tail = "}" if "switch" in where else ""
    loop = f"{head}\n#pragma mapreduce mapper key(n)\n  while (n < 9) n++;\n{tail}"
    text = f"int main(void) {{ int n = 0;\n{loop} return 0; }}\n"
    _, regions, found = compile_text(tmp_path, text)
    assert found == [] and len(regions) == 1 and isinstance(regions[0].stmt, c_ast.While)


@pytest.mark.parametrize(
    "place",
    ["int a[] = {{\n{}\n 1 }}; (void)a;", "struct s {{\n{}\n int x; }}; n = 1;", "enum {{ A,\n{}\n B }}; n = 1;"],
)
def test_directive_inside_a_declaration(place: str, tmp_path: Path) -> None:
    path = tmp_path / "p.c"
    directive = place.format("#pragma mapreduce mapper key(n)")
    path.write_text(f"int main(void) {{ int n = 0;\n{directive}\nreturn n; }}\n")
    unit = load(path, CcOptions())
    sink = Sink()
    assert bind(unit, sink) == []
    assert unit.refusal is not None or [d.code for d in sink.errors] == ["HD110"]


def test_one_bad_directive_does_not_hide_the_other(tmp_path: Path) -> None:
    text = """int main(void) { int n = 0; char *p = 0;
#pragma mapreduce mapper key(p)
  while (n < 3) n++;
#pragma mapreduce mapper key(x)
  n = 2;
  return p != 0; }
"""
    _, regions, found = compile_text(tmp_path, text)
    assert regions == [] and [(d.code, d.span.line) for d in found if d.span] == [("HD118", 4), ("HD104", 2), ("HD110", 4)]


@pytest.mark.parametrize(
    ("role", "kind", "codes"),
    [("map", "mapper", []), ("map", "combiner", ["HD119"]), ("combine", "mapper", ["HD119"]), ("combine", "combiner", []),
     ("reduce", "mapper", ["HD119"]), (None, "mapper", []), (None, "combiner", [])],
)
def test_roles(role: str | None, kind: str, codes: list[str], tmp_path: Path) -> None:
    more = " keyin(m) valuein(n)" if kind == "combiner" else ""
    _, _, found = compile_text(tmp_path, LOOP.format("", "", f"{kind} key(n){more}"), role)
    assert [d.code for d in found] == codes


def test_no_directive_is_no_error(tmp_path: Path) -> None:
    unit, regions, found = compile_text(tmp_path, "int main(void) { return 0; }\n", "reduce")
    assert unit.directives == [] and regions == [] and found == []


def test_refused_unit_has_no_regions_but_its_directives(tmp_path: Path) -> None:
    path = tmp_path / "p.c"
    path.write_text(LOOP.format("", "__asm__(\"\");", "mapper key(n)"))
    unit = load(path, CcOptions())
    assert unit.refusal is not None and len(unit.directives) == 1
    sink = Sink()
    assert bind(unit, sink, "combine") == [] and [d.code for d in sink.errors] == ["HD119"]


@pytest.mark.parametrize(("lengths", "told"), [
    ("keylength(32) vallength(1)", 0), ("keylength(33) vallength(33)", 0), ("keylength(20) vallength(1)", 1),
])
def test_lengths_of_a_struct_are_those_of_one_field_or_of_all(lengths: str, told: int, tmp_path: Path) -> None:
    text = f"""struct pair {{ char key[32]; int count; }};
int main(void) {{ int n = 0; struct pair p = {{"", 0}};
#pragma mapreduce mapper key(p) value(p) {lengths}
  while (n < 3) n++;
  return p.count; }}
"""
    assert [d.code for d in compile_text(tmp_path, text)[2]] == ["HD116"] * told


def test_const_integer_as_a_length(tmp_path: Path) -> None:
    text = """static const int size = 4 * 8;
int main(void) { int n = 0; char k[32] = ""; const int none = n;
#pragma mapreduce mapper key(k) keylength(size) kvpairs(none)
  while (n < 3) n++;
  return k[0] + none; }
"""
    _, _, found = compile_text(tmp_path, text)
    assert [(d.code, "kvpairs" in d.message) for d in found] == [("HD114", True)]
