"""The front end on whole files: real C, odd names, odd spellings, and stand-in headers held against the system's own."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from pycparser import c_ast

from heterodoop.compiler.lower.bind import bind
from heterodoop.compiler.source.frontend import Unit, load
from heterodoop.compiler.types.table import TypeTable
from heterodoop.diag import Sink
from heterodoop.errors import UsageError, UserError
from heterodoop.toolchain.cc import CcOptions

HEADERS = Path(__file__).parents[3] / "runtime" / "headers"
NAMES = sorted(str(p.relative_to(HEADERS)) for p in HEADERS.rglob("*.h"))
PROGRAM = """#include <stdio.h>
#include <stdlib.h>
#include <string.h>
{head}
int main(void) {{
  char k[KLEN], *line = NULL; size_t cap = 0; ssize_t n; int v;
  {pragma}
  while ((n = getline(&line, &cap, stdin)) != -1) {{
    v = (int)n; sprintf(k, "n%d", v);
    printf("%s\\t%d\\n", k, v);
  }}
  free(line);
  return 0;
}}
"""
PRAGMA = "#pragma mapreduce mapper key(k) value(v) keylength(KLEN) vallength(1)"


def write(path: Path, head: str = "#define KLEN 24", pragma: str = PRAGMA) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(PROGRAM.format(head=head, pragma=pragma))
    return path


def load_text(tmp_path: Path, text: str, options: CcOptions | None = None) -> Unit:
    path = tmp_path / "p.c"
    path.write_text(text)
    return load(path, options or CcOptions())


def bound(unit: Unit) -> tuple[int, int]:
    sink = Sink()
    (region,) = bind(unit, sink)
    assert sink.diagnostics == [] and unit.refusal is None
    return region.keylength, region.vallength


# ------------------------------------------------------------------------------------------ directives


@pytest.mark.parametrize(
    "pragma",
    [
        PRAGMA,
        "#\tpragma   mapreduce\\\n   mapper  vallength( 1 )  value( v )\\\n  key( k ) keylength( 24 )   /* note */  // more",
        '_Pragma("mapreduce mapper key(k) value(v) keylength(KLEN) vallength(1)")',
        "#pragma mapreduce mapper key(k) value(v) keylength(sizeof(k)) vallength(sizeof v / sizeof(int))",
        "#pragma mapreduce mapper key(k) value(v) keylength(KLEN * 2 - 24) vallength(3 - 2)",
        "#pragma omp parallel\n  #pragma mapreduce mapper key(k) value(v)\n  #pragma GCC unroll 4",
    ],
)
def test_every_spelling_means_the_same(pragma: str, tmp_path: Path) -> None:
    assert bound(load(write(tmp_path / "p.c", pragma=pragma), CcOptions())) == (24, 1)


def test_macros_are_those_at_the_directive(tmp_path: Path) -> None:
    head = "#define KLEN 24\n#define LONGER(x) (x + KLEN)"
    pragma = PRAGMA.replace("keylength(KLEN)", "kvpairs(LONGER(8)) keylength(KLEN)") + "\n#undef KLEN\n#define KLEN 7"
    unit = load(write(tmp_path / "p.c", head, pragma), CcOptions())
    assert bound(unit) == (24, 1)
    clause = unit.directives[0].clause("kvpairs")
    assert clause is not None and clause.args[0].text == "LONGER(8)" and clause.args[0].expanded == "(8 + 24)"


def test_macros_from_options_and_from_the_files_own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "len.h").write_text("#define KLEN (HALF * 2)\n")
    (tmp_path / "len.h").write_text("#define KLEN 1000\n")
    write(tmp_path / "sub" / "p.c", '#include "len.h"')
    monkeypatch.chdir(tmp_path)
    unit = load("sub/p.c", CcOptions(defines=("HALF=12",)))
    assert bound(unit) == (24, 1) and unit.deps == ["sub/p.c", "sub/len.h"]


def test_include_folder_relative_to_the_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "inc").mkdir()
    (tmp_path / "inc" / "len.h").write_text("#define KLEN 24\n")
    write(tmp_path / "app" / "p.c", "#include <len.h>")
    monkeypatch.chdir(tmp_path)
    assert bound(load("app/p.c", CcOptions(includes=("inc",)))) == (24, 1)


def test_only_active_directives_count(tmp_path: Path) -> None:
    off = "#if 0\n#pragma mapreduce nonsense\n#endif\n"
    pragma = f"{off}/* #pragma mapreduce rubbish */ puts(\"#pragma mapreduce x\");\n{PRAGMA}"
    unit = load(write(tmp_path / "p.c", pragma=pragma), CcOptions())
    assert len(unit.directives) == 1 and unit.directives[0].span.line == 11


def test_directives_and_c_errors_come_together(tmp_path: Path) -> None:
    path = write(tmp_path / "p.c", pragma="undeclared = 1;\n#pragma mapreduce mapper kye(k)")
    with pytest.raises(UserError) as error:
        load(path, CcOptions())
    assert [(d.code, d.span.line) for d in error.value.diagnostics] == [("HD300", 7), ("HD103", 8)]


# --------------------------------------------------------------------------------------- names of files


@pytest.mark.parametrize(
    "name",
    [
        "my map.c", "(1)/m.c", "it's.c", 'quo"te.c', "größe.c", "a\nb.c", "back\\slash.c", "x;touch PWNED;.txt",
        "$(touch PWNED).c",
        "`touch PWNED`", "a|touch PWNED", "x.c -o PWNED", "x'; touch PWNED; '", "-oPWNED.c", "--help.c", "-",
        "@args.c", "n" * 200 + ".c",
        "caf\udce9.c", "p:3:4: error: x.c", "%s.c", "?.c",
    ],
)
def test_any_file_name(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("args.c").write_text("-wrapper /bin/sh,-c,touch PWNED")
    write(Path(name) if name != "@args.c" else Path("./@args.c"))
    unit = load(name, CcOptions())
    assert bound(unit) == (24, 1) and unit.deps == [name] and unit.directives[0].span.file == name
    func = next(n for n in unit.ast.ext if isinstance(n, c_ast.FuncDef))  # type: ignore[union-attr]
    assert str(unit.span(func)) == f"{name}:5:5"
    Path(name).write_text("int main(void) {\n  return x; }\n")
    with pytest.raises(UserError) as error:
        load(name, CcOptions())
    diagnostic = error.value.diagnostics[0]
    assert (diagnostic.span.file, diagnostic.span.line, diagnostic.span.col) == (name, 2, 10)
    assert diagnostic.text.startswith(f"{name}:2:10: error: 'x' undeclared")
    assert not Path("PWNED").exists() and not list(tmp_path.rglob("PWNED"))


@pytest.mark.parametrize("name", ["missing.c", ".", "a\0b.c", ""])
def test_unreadable_file(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="cannot read") as error:
        load(name, CcOptions())
    assert error.value.code == "HD302"


# ------------------------------------------------------------------------------------------ places


def test_places_of_nodes(tmp_path: Path) -> None:
    head = "#define N 10000\n#define CALL(x) f(x)\nint f(int);\n"
    unit = load_text(tmp_path, f"{head}int main(void) {{\n\tint a[N], b = 2;\n  return CALL(b) + a[b];\n}}\n")
    assert unit.ast is not None
    main = unit.ast.ext[-1]
    first, second, last = main.body.block_items
    assert str(unit.span(second.type)) == f"{unit.path}:5:12"
    assert str(unit.span(first.type)) == f"{unit.path}:5:6"
    call = last.expr.left
    assert str(unit.span(call)) == f"{unit.path}:6"
    subscript = unit.span(last.expr.right)
    assert (subscript.col, subscript.end) == (20, 21)


def test_missing_semicolon_is_told_by_the_compiler_at_its_line(tmp_path: Path) -> None:
    with pytest.raises(UserError) as error:
        load_text(tmp_path, "int main(void) {\n  int a;\n  a = 1\n  return a;\n}\n")
    diagnostic = error.value.diagnostics[0]
    assert diagnostic.span.line == 3 and "expected" in diagnostic.message and "a = 1" in diagnostic.text


def test_compiler_warnings_are_kept(tmp_path: Path) -> None:
    unit = load_text(tmp_path, "int main(void) {\n  return 1 << 40;\n}\n")
    assert [(w.severity, w.span.line) for w in unit.warnings if w.span] == [("warning", 2)]


@pytest.mark.parametrize("std", ["c99", "gnu99", "c11", "gnu17", "c2x"])
def test_language_standards(std: str, tmp_path: Path) -> None:
    text = "#include <stdio.h>\nint main(void) { for (int i = 0; i < 2; i++) puts(\"x\"); return 0; }\n"
    assert load_text(tmp_path, text, CcOptions(std=std)).refusal is None


def test_standard_decides_what_is_accepted(tmp_path: Path) -> None:
    text = "int main(void) { int typeof = 1, asm = 2; return typeof + asm; }\n"
    assert load_text(tmp_path, text, CcOptions(std="c11")).refusal is None
    with pytest.raises(UserError):
        load_text(tmp_path, text)
    with pytest.raises(UserError, match="option"):
        load_text(tmp_path, text, CcOptions(std="klingon"))


# ------------------------------------------------------------------------------------------ refusals


@pytest.mark.parametrize(
    ("text", "code", "words", "line"),
    [
        ("#include <stdio.h>\n#include <complex.h>\nint main(void) { return 0; }\n", "HD305", "complex.h", 2),
        ("#include <stdio.h>\n#ifdef __USE_MISC\nint x;\n#endif\nint main(void) { return 0; }\n", "HD306", "header", 3),
        ("#if __has_include(<threads.h>)\n#define N 1\n#else\n#define N 0\n#endif\nint main(void) { return N; }\n",
         "HD306", "header", 2),
        ("#include <stdio.h>\n#define N 1\n#ifdef __USE_MISC\n#undef N\n#endif\nint main(void) { return 0; }\n", "HD306",
         "header", 4),
        ("int main(void) {\n  __auto_type a = 2;\n return a; }\n", "HD304", "__auto_type", 2),
        ("int main(void) { return 0; }\nint f(void) { return __alignof__ 1; }\n", "HD303", "parser", 2),
    ],
)
def test_what_is_not_analysed_is_named(text: str, code: str, words: str, line: int, tmp_path: Path) -> None:
    unit = load_text(tmp_path, text)
    assert unit.ast is None and unit.refusal is not None
    assert unit.refusal.code == code and words in unit.refusal.message
    assert re.match(rf"{re.escape(unit.path)}:{line}(:\d+)?$", unit.refusal.place)


# ---------------------------------------------------------------------------------------- stand-in headers

USERS_OWN = {"hd_types.h", "assert.h"}
DIFFERENT_MACROS = {
    "NULL", "stdin", "stdout", "stderr", "errno", "static_assert", "offsetof", "MB_CUR_MAX", "__GLIBC__",
    "__GLIBC_MINOR__",
}


def real(name: str) -> bool:
    found = subprocess.run(["cc", "-E", "-x", "c", "-"], input=f"#include <{name}>", capture_output=True, text=True)
    return found.returncode == 0


@pytest.mark.parametrize("name", [n for n in NAMES if n not in USERS_OWN])
def test_header_is_compatible_with_the_systems(name: str, tmp_path: Path) -> None:
    """Declared after the real ones, ours must declare the same types; constant macros must have the same values."""
    if not real(name):
        pytest.skip(f"no {name} here")
    ours = subprocess.run(
        ["cc", "-E", "-dM", "-nostdinc", "-isystem", HEADERS, "-D_GNU_SOURCE", "-DHD_HEADER_TEST", "-x", "c", "-"],
        input=f"#include <{name}>\n", capture_output=True, text=True, check=True,
    ).stdout
    command = ["cc", "-E", "-dM", "-x", "c", "/dev/null"]
    builtin = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    macros = dict(re.findall(r"^#define (\w+) (.+)$", ours, re.MULTILINE))
    known = set(re.findall(r"^#define (\w+)", builtin, re.MULTILINE))
    own = {m: v for m, v in macros.items() if m not in known | DIFFERENT_MACROS and not m.startswith(("HD_", "__"))}
    checks = "".join(f"_Static_assert(({m}) == ({v}), \"{m}\");\n" for m, v in own.items() if re.match(r"\(?[-\d]", v))
    texts = "".join(
        f"_Static_assert(sizeof({m}) == sizeof({v}), \"{m}\"); static const char *hd_{m} = {m};\n"
        for m, v in own.items() if v.startswith('"')
    )
    others = ["stdarg.h", "stdio.h", "time.h", "sys/stat.h", "sys/types.h", "stdint.h"]
    includes = "".join(f"#include <{n}>\n" for n in [name, *others])
    bodies = _inlined(name, set())
    source = tmp_path / "h.c"
    source.write_text(f"#define HD_HEADER_TEST\n{includes}{checks}{texts}\n{bodies}\nint main(void) {{ return 0; }}\n")
    result = subprocess.run(["cc", "-D_GNU_SOURCE", "-fsyntax-only", "-w", source], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


def _inlined(name: str, seen: set[str]) -> str:
    """A stand-in's text with its own includes put in; macros are left out, they would change the declarations after."""
    if name in seen:
        return ""
    seen.add(name)
    lines = []
    for line in (HEADERS / name).read_text().split("\n"):
        include = re.match(r"#include <(.*)>", line)
        if include:
            lines.append(_inlined(include[1], seen))
        elif not re.match(r"#define (?!HD_)", line):
            function = re.match(r"\w[\w\s*]*?(\w+)\(", line)
            lines += [f"#undef {function[1]}", line] if function else [line]
    return "\n".join(lines)


@pytest.mark.parametrize("name", NAMES)
def test_header_alone_is_taken_by_the_parser(name: str, tmp_path: Path) -> None:
    if not real(name):
        pytest.skip(f"no {name} here")
    named = " ".join(sorted(set(re.findall(r"\w+", _inlined(name, set())))))  # what nobody names is not parsed
    text = f"#define _GNU_SOURCE\n#include <{name}>\n#include <{name}>\nint main(void) {{ return sizeof(\"{named}\"); }}\n"
    unit = load_text(tmp_path, text)
    assert unit.refusal is None and unit.ast is not None
    declared = {node.decl.name if isinstance(node, c_ast.FuncDef) else node.name for node in unit.ast.ext}
    assert declared >= set(re.findall(r"^\w[\w\s*]*?(\w+)\(", (HEADERS / name).read_text(), re.MULTILINE))
    types = TypeTable()
    for node in unit.ast.ext:
        if isinstance(node, c_ast.Decl | c_ast.Typedef):
            types.declare(node)


def test_struct_layouts_of_headers_are_the_systems(tmp_path: Path) -> None:
    includes = "#include <sys/stat.h>\n#include <time.h>\n#include <sys/time.h>\n#include <locale.h>\n#include <stdlib.h>\n"
    names = ["struct stat", "struct tm", "struct timespec", "struct timeval", "struct lconv", "div_t", "ldiv_t", "lldiv_t"]
    lines = "".join(f'  printf("%zu\\n", sizeof({n}));\n' for n in names)
    source = tmp_path / "s.c"
    source.write_text(f"{includes}#include <stdio.h>\nint main(void) {{\n{lines}return 0; }}\n")
    subprocess.run(["cc", "-o", tmp_path / "s", source], check=True)
    expected = subprocess.run([tmp_path / "s"], capture_output=True, text=True, check=True).stdout.split()
    variables = "".join(f"{n} v{i};\n" for i, n in enumerate(names))
    unit = load_text(tmp_path, f"{includes}{variables}int main(void) {{ return 0; }}\n")
    types = TypeTable()
    assert unit.ast is not None
    sizes = [types.layouts.size(types.declare(n)) for n in unit.ast.ext if not isinstance(n, c_ast.FuncDef)][-len(names) :]
    assert list(map(str, sizes)) == expected


def test_everyday_macros_become_plain_calls_and_names(tmp_path: Path) -> None:
    unit = load_text(tmp_path, """#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
int main(void) {
  bool big = isnan(1.0) || isalpha('a'); uint64_t v = 3;
  assert(v > 2); errno = 0;
  fprintf(stderr, "%" PRIu64 "\\n", v);
  return big == true ? EOF : getchar();
}
""")
    assert unit.ast is not None
    calls: set[str] = set()

    class Calls(c_ast.NodeVisitor):  # type: ignore[misc]
        def visit_FuncCall(self, node: c_ast.FuncCall) -> None:
            calls.add(node.name.name)
            self.generic_visit(node)

    Calls().visit(unit.ast)
    assert calls == {"__hd_isnan", "isalpha", "__hd_assert_fail", "fprintf", "getchar"}


# ------------------------------------------------------------------------------------------- field programs

ATTRIBUTES = """#include <stdio.h>
static int __attribute__((noinline)) twice(int x) __attribute__((const));
static int twice(int x) { return 2 * x; }
typedef struct rec { int a; } rec;
typedef int word_t;
typedef struct { word_t word_t; rec rec; } both;
#define KIND(x) _Generic((x), int: 1, double: 2, char *: 3, default: 9)
_Static_assert(sizeof(int) == 4, "int is 4 bytes");
int main(void) {
  char k[32] __attribute__((aligned(16))), *line = NULL; size_t cap = 0; ssize_t n; int v, word_t;
  both b; _Alignas(8) struct { union { int i; float f; }; } u; unsigned __int128 w = 1;
  #pragma mapreduce mapper key(k) value(v)
  while ((n = getline(&line, &cap, stdin)) != -1) {
    rec one, *rec = &one; rec->a = (int)n + sizeof(*rec);
    word_t = rec->a * 2; b.word_t = word_t; u.i = twice(b.word_t);
    v = KIND(u.i) + u.i + (int)(w >> 64);
    switch (v) { case 1: case 2: v += 1; default: v += 2; }
    printf("%s\\t%d\\n", k, v);
  }
  return 0;
}
"""


def test_c11_gnu_attributes_and_shadowed_typedefs(tmp_path: Path) -> None:
    assert bound(load_text(tmp_path, ATTRIBUTES)) == (32, 1)


def test_front_end_is_quick(tmp_path: Path) -> None:
    """Processor time of ours and of the compiler's runs; the bar for a whole compile is 2 s."""
    path = write(tmp_path / "p.c")
    before = os.times()
    load(path, CcOptions())
    after = os.times()
    assert sum(after[:4]) - sum(before[:4]) < 1.0
