"""Prologues: the directive's text is replaced wherever it may stand, and the executable writes what the loop reads."""

from __future__ import annotations

import os
import struct
import subprocess
from pathlib import Path

import pytest

from heterodoop.compiler import passes
from heterodoop.compiler.compile import BuildOptions, CompileResult, compile_to_bundle
from heterodoop.compiler.decide.decisions import SharedField
from heterodoop.compiler.emit import prologue
from heterodoop.compiler.source.frontend import load
from heterodoop.compiler.source.logical import last_line
from heterodoop.compiler.spine import analyse
from heterodoop.manifest import Kernel
from heterodoop.source import SourceFile
from heterodoop.toolchain.cc import CcOptions

from ..regions import analyse as analyse_region
from ..regions import mapper

HEAD = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
LOOP = 'while (getline(&line, &cap, stdin) != -1) { v = USE; strcpy(k, "x"); printf("%s\\t%d\\n", k, v); }'
PRAGMA = "#pragma mapreduce mapper key(k) value(v)\n"


ASKED = "what it asked for"


def program(before: str, use: str, *, helpers: str = "", pragma: str = PRAGMA, main: str = "int main(void)") -> str:
    start = f"{HEAD}{helpers}{main}\n{{ char k[8], *line = NULL; size_t cap = 0; int v;\n{before}\n"
    return f"{start}{pragma}{LOOP.replace('USE', use)}\nreturn 0; }}\n"


def compiled(folder: Path, text: str, **more: object) -> tuple[Path, Kernel, CompileResult]:
    (folder / "map.c").write_text(text)
    options = BuildOptions.make([str(folder)], arch=["none"], **more)  # type: ignore[arg-type]
    bundle, result = compile_to_bundle(options, folder / "app.hdp")
    kernel = result.manifest.programs[0].kernel
    assert kernel is not None, result.manifest.programs[0].gpu_refusals
    return bundle, kernel, result


def handed(bundle: Path, kernel: Kernel, *arguments: str, env: dict[str, str] | None = None) -> dict[str, tuple[int, bytes]]:
    """Run the prologue: name of each object -> its address and bytes."""
    data = bundle.with_name("data")
    subprocess.run(
        ["sh", "-c", 'exec 3>"$1"; shift; exec "$@"', "sh", data, bundle / kernel.prologue, *arguments], check=True,
        stdin=subprocess.DEVNULL, env={**os.environ, **(env or {})}, timeout=20, cwd=bundle.parent,
    )
    text = data.read_bytes()
    found, at = {}, 0
    for var in kernel.shared:
        address, size = struct.unpack_from("<QQ", text, at)
        found[var.name] = address, text[at + 16 : at + 16 + size]
        assert not var.nbytes or var.nbytes == size
        at += 16 + size
    if kernel.prologue_runs == "asked":
        address, size = struct.unpack_from("<QQ", text, at)
        assert at + 16 + size == len(text)
        found[ASKED] = address, text[at + 16 :]
    else:
        assert at == len(text)
    return found


# ------------------------------------------------------------------------------------------ what it writes


def test_every_kind_of_object_is_written(tmp_path: Path) -> None:
    before = """register int a = argc; int t[300], *heap = malloc(12), *inner = heap + 1, *none = argc > 9 ? t : NULL;
        struct { char c; double d; } s = {'x', argc}; char *arg = argv[1] + 2, *env = getenv("HD_TEST");
        const char *literal = argc > 9 ? "many" : "few";
        for (int i = 0; i < 300; i++) t[i] = i * argc; heap[0] = 7; heap[1] = 8; heap[2] = 9;"""
    use = "a + t[line[0]] + heap[0] + *inner + (none != NULL) + s.c + arg[0] + (env != NULL) + literal[0]"
    main = "int main(int argc, char **argv)"
    bundle, kernel, _ = compiled(tmp_path, program(before, use, main=main))
    found = handed(bundle, kernel, "one", "two", env={"HD_TEST": "value"})
    assert found["a"][1] == struct.pack("<i", 3) and found["t"][1] == struct.pack("<300i", *range(0, 900, 3))
    assert found["s"][1][:1] == b"x" and struct.unpack_from("<d", found["s"][1], 8) == (3.0,)
    address, data = found["*heap"]
    assert data[:12] == struct.pack("<3i", 7, 8, 9) and 12 <= len(data) <= 64
    assert found["heap"][1] == struct.pack("<Q", address) and found["inner"][1] == struct.pack("<Q", address + 4)
    assert found["none"][1] == bytes(8)
    for name, text in {"arg": b"e\0two\0", "env": b"value\0", "literal": b"few\0"}.items():
        base, block = found[f"*{name}"]
        at = struct.unpack("<Q", found[name][1])[0] - base
        assert 0 <= at < len(block) and block[at:].startswith(text)
    assert kernel.prologue_runs == "asked" and found[ASKED][1] == b"eHD_TEST\0"


def test_null_and_memory_of_unknown_size(tmp_path: Path) -> None:
    before = "int n = atoi(getenv(\"HD_N\")), *p = NULL, *q = malloc(4 * n); if (n > 5) p = malloc(4); memset(q, 1, 4 * n);"
    bundle, kernel, _ = compiled(tmp_path, program(before, "n + (p ? *p : 0) + q[line[0] & 1]"))
    found = handed(bundle, kernel, env={"HD_N": "5"})
    assert found["p"][1] == bytes(8) and found["*p"] == (0, b"") and found["*q"][1][:20] == b"\1" * 20
    assert len(handed(bundle, kernel, env={"HD_N": "500"})["*q"][1]) >= 2000


OPEN = """static int first(const char *path) { int n = 0; FILE *f = fopen(path, MODE); if (!f) return -1;
    if (fscanf(f, "%d", &n) != 1 || feof(f)) n = -2; rewind(f); fclose(f); return n; }
"""


@pytest.mark.parametrize(("mode", "noted"), [('"r"', True), ('"rbe"', True), ('"r+"', False), ('"w"', False)])
def test_the_files_that_a_helper_reads_are_noted(tmp_path: Path, mode: str, noted: bool) -> None:
    text = program(f'int a = first("{tmp_path}/table"), b = first("none");', "a + b", helpers=OPEN.replace("MODE", mode))
    bundle, kernel, _ = compiled(tmp_path, text)
    (tmp_path / "table").write_text("41 2")
    assert kernel.prologue_runs == "asked"
    address, asked = handed(bundle, kernel)[ASKED]
    assert (address != 0) is noted and asked == (f"f{tmp_path}/table\0fnone\0".encode() if noted else b"")


def test_a_variable_asked_for_in_the_loop_is_noted(tmp_path: Path) -> None:
    bundle, kernel, _ = compiled(tmp_path, program("", 'getenv("HD_LOOP") != NULL'))
    assert kernel.prologue_runs == "asked" and set(handed(bundle, kernel)[ASKED][1].split(b"\0")) == {b"eHD_LOOP", b""}


def test_too_many_questions_are_as_none_that_are_known(tmp_path: Path) -> None:
    before = """int a = 0; char name[20];
        for (int i = 0; i < 9000; i++) { sprintf(name, "HD_%d", i); a += getenv(name) != NULL; }"""
    bundle, kernel, _ = compiled(tmp_path, program(before, "a"))
    assert kernel.prologue_runs == "asked" and handed(bundle, kernel)[ASKED] == (0, b"")


def test_the_loop_and_what_follows_do_not_run(tmp_path: Path) -> None:
    text = program("int a = atoi(\"4\");", "a").replace("return 0; }", "abort(); }")
    bundle, kernel, _ = compiled(tmp_path, text)
    assert handed(bundle, kernel)["a"][1] == struct.pack("<i", 4)


def test_without_a_descriptor_it_fails(tmp_path: Path) -> None:
    bundle, kernel, _ = compiled(tmp_path, program("int a = atoi(\"4\");", "a"))
    done = subprocess.run(["sh", "-c", 'exec "$0" 3>&-', bundle / kernel.prologue], stdin=subprocess.DEVNULL, check=False)
    assert done.returncode == 125


def test_nothing_to_hand_over_needs_no_prologue(tmp_path: Path) -> None:
    bundle, kernel, _ = compiled(tmp_path, program("const int a = 5;", "a"))
    assert kernel.prologue == "" and kernel.shared == () and kernel.shared_bytes == 1 and kernel.prologue_runs == "once"
    assert not (bundle / "bin" / "map.prologue").exists()


def test_options_headers_and_other_files_reach_it(tmp_path: Path) -> None:
    (tmp_path / "inc").mkdir()
    (tmp_path / "inc" / "n.h").write_text("#define N 3\n")
    (tmp_path / "own.h").write_text("int other(void);\n#define LINE __LINE__\n")
    other = tmp_path / "other.c"
    other.write_text("int other(void) { return 40; }\n")
    before = '#include "own.h"\nint a = other() + N + M, b = a - a + __LINE__; char f[300]; strcpy(f, __FILE__);'
    text = '#include <n.h>\n' + program(before, "a + b + f[line[0]]")
    (tmp_path / "map.c").write_text(text)
    files, include = [str(tmp_path / "map.c"), str(other)], [str(tmp_path / "inc")]
    options = BuildOptions.make(files, include=include, define=["M=1"], arch=["none"])
    bundle, result = compile_to_bundle(options, tmp_path / "app.hdp")
    kernel = result.manifest.programs[0].kernel
    assert kernel is not None
    found = handed(bundle, kernel)
    assert found["a"][1] == struct.pack("<i", 44) and found["f"][1].startswith(os.fsencode(tmp_path / "map.c"))
    assert found["b"][1] == struct.pack("<i", text[: text.index("__LINE__")].count("\n") + 1)


# ------------------------------------------------------------------------------------------ the directive's text


@pytest.mark.parametrize("pragma", [
    "#pragma mapreduce mapper \\\n  key(k) \\\n  value(v)\n", "  #  pragma  mapreduce mapper key(k) value(v) // end\n",
    "#pragma mapreduce mapper key(k) /* the\nkey */ value(v)\n", "%:pragma mapreduce mapper key(k) value(v)\n",
    '_Pragma("mapreduce mapper key(k) value(v)")\n', '_Pragma ( "mapreduce mapper key(k) value(v)" ) ',
    "#pragma mapreduce mapper key(k) value(v) // more \\\n and more\n", "#pragma mapreduce mapper key(k) value(v)\r\n",
    "a++; a--; _Pragma(\"mapreduce mapper key(k) value(v)\") ",
])
def test_directives_in_every_spelling(pragma: str, tmp_path: Path) -> None:
    text = program("int a = atoi(\"4\");", "a + __LINE__", pragma=pragma)
    bundle, kernel, result = compiled(tmp_path, text)
    assert handed(bundle, kernel)["a"][1] == struct.pack("<i", 4)
    unit = result.programs[0].unit
    source = unit.sources.get(unit.path)
    assert source is not None and prologue.problem(source, unit.directives[0].span) == ""
    made = prologue.prologue_text(source, unit.directives[0].span, [])
    assert made.count("\n") == text.count("\n") + 1 and "mapreduce" not in made
    head = text[: text.index("mapreduce")].rpartition("\n")[0]
    assert made.split("\n", 1)[1].startswith(head)


@pytest.mark.parametrize("pragma", [
    "MAP\n", '_Pragma("mapreduce mapper \\\nkey(k) value(v)")\n',
])
def test_a_directive_out_of_a_macro_keeps_the_region_on_the_cpu(pragma: str, tmp_path: Path) -> None:
    macro = '#define MAP _Pragma("mapreduce mapper key(k) value(v)")\n'
    (tmp_path / "map.c").write_text(program("int a = atoi(\"4\");", "a", pragma=pragma, helpers=macro))
    result = analyse(BuildOptions.make([str(tmp_path)]))
    assert [r.code for r in result.manifest.programs[0].gpu_refusals] == ["HD246"]
    (tmp_path / "map.c").write_text(program("", "1", pragma=pragma, helpers=macro))
    assert not analyse(BuildOptions.make([str(tmp_path)])).manifest.programs[0].gpu_refusals, "nothing to hand over"


def test_what_does_not_build_keeps_the_region_on_the_cpu(tmp_path: Path) -> None:
    """A macro with the variable's name, defined after its last use, breaks the copy; the filter does not see it."""
    text = program("int a = atoi(\"4\");", "a").replace("printf(", "\n#define hd_live_in_end nothing of use\nprintf(", 1)
    text = text.replace("#pragma mapreduce", "#define hd_live_in_object\n#pragma mapreduce", 1)
    (tmp_path / "map.c").write_text(text)
    _, result = compile_to_bundle(BuildOptions.make([str(tmp_path)], arch=["none"]), tmp_path / "app.hdp")
    map = result.manifest.programs[0]
    assert map.kernel is None and [r.code for r in map.gpu_refusals] == ["HD246"] and "map.c" in map.gpu_refusals[0].place


def test_the_statement_names_values_and_memory() -> None:
    def field(name: str, kind: str) -> SharedField:
        return SharedField(name, name, kind, None, 0, 0, name)  # type: ignore[arg-type]

    text = prologue.statement([field("a", "scalar"), field("p", "heap"), field("q", "string")])
    assert "hd_live_in_object((const void *)&(a), sizeof(a));" in text
    assert "hd_live_in_heap((const void *)(p));" in text and "hd_live_in_string((const void *)(q));" in text
    assert "\n" not in text


@pytest.mark.parametrize(("text", "last"), [
    ("#pragma x\nint", 1), ("#pragma \\\n\\\nx\nint", 3), ("#pragma /* \n\n */ x\nint", 3), ("#pragma x", 1),
    ("#pragma // x\\\ny\\\nz\nint", 3),
])
def test_the_last_line_of_a_directive(text: str, last: int) -> None:
    assert last_line(SourceFile("m.c", text), 1) == last


# ------------------------------------------------------------------------------------------ how often it runs


def runs(analysis: passes.Analysis) -> str:
    return prologue.runs(analysis.program, analysis.facts.calls)


@pytest.mark.parametrize(("before", "helpers", "often"), [
    ("int a = 3; for (int i = 0; i < 9; i++) a *= i; char *t = malloc(a); strcpy(t, \"x\");", "", "once"),
    ("int a = f(2);", "static int f(int x) { return x > 0 ? f(x - 1) : abs(x); }", "once"),
    ("int (*g)(int) = abs; int a = g(1); (void)rand;", "", "once"),
    ("int a = f();", "static int f(void) { return getenv(\"X\") != NULL; }", "asked"),
    ("FILE *f = fopen(\"x\", \"r\"); int a = f != NULL;", "", "asked"),
    ("FILE *f = fopen(\"x\", \"r\"); char b[8] = \"\"; int a = f && fgets(b, 8, f) ? b[0] : 0;", "", "asked"),
    ("FILE *f = fopen(\"x\", \"r\"); int a = f != NULL && rand() > 1;", "", "each"),
    ("int a = setenv(\"p\", \"1\", 1); a += getenv(\"p\") != NULL;", "", "each"),
    ("int a = rand();", "", "each"), ("int a = (int)time(NULL);", "", "each"),
    ("int a = unknown();", "int unknown(void);", "each"),
    ("int a = environ != NULL;", "extern char **environ;", "each"),
    ("int a = environ != NULL && getenv(\"p\");", "extern char **environ;", "each"),
])
def test_how_often_it_must_run(before: str, helpers: str, often: str) -> None:
    analysis = analyse_region(mapper("v = a; printf(\"%s\\t%d\\n\", k, v);", before=before, helpers=helpers))[0]
    assert runs(analysis) == often


def test_mains_third_argument_is_the_environment() -> None:
    source = mapper("v = a;", before="int a = envp != NULL;")
    changed = source.replace("int main(void)", "int main(int argc, char **argv, char **envp)")
    assert runs(analyse_region(changed)[0]) == "each"
    assert runs(analyse_region(changed.replace("envp != NULL", "argc"))[0]) == "once"


def test_what_follows_the_region_does_not_matter() -> None:
    source = mapper("v = 1;", after="v = rand();")
    assert runs(analyse_region(source)[0]) == "once"


def test_units_hold_the_text_that_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "map.c").write_text(program("int a = atoi(\"4\");", "a"))
    unit = load(tmp_path / "map.c", CcOptions())
    assert unit.sources.get(unit.path) is not None
