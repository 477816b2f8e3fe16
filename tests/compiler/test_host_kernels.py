"""Which mapper has a host kernel, why another has none, and what it costs where none can be built."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from heterodoop import explain, manifest
from heterodoop.compiler import host_kernels
from heterodoop.compiler.app import BuildOptions
from heterodoop.compiler.compile import CompileResult, compile_to_bundle, summary
from heterodoop.compiler.spine import analyse, emit
from heterodoop.errors import CompilerBug, ToolError
from heterodoop.manifest import HostKernel, Program

ROOT = Path(__file__).resolve().parents[2]
WORDCOUNT = ROOT / "apps" / "wordcount"


@pytest.fixture(autouse=True)
def quick(own_cache: Path, monkeypatch: pytest.MonkeyPatch, quick_compiler: str) -> None:
    monkeypatch.setenv("CXX", quick_compiler)


def options(app: Path = WORDCOUNT) -> BuildOptions:
    return BuildOptions.make([str(app)], arch=["none"])


def build(folder: Path, app: Path = WORDCOUNT) -> tuple[Path, CompileResult]:
    return compile_to_bundle(options(app), folder / "x.hdp")


def mapper(found: manifest.Manifest) -> Program:
    program = found.program("map")
    assert program is not None
    return program


def changed(folder: Path, role: str, old: str, new: str) -> Path:
    app = folder / "app"
    if not app.exists():
        shutil.copytree(WORDCOUNT, app)
    text = (app / f"{role}.c").read_text()
    assert old in text
    (app / f"{role}.c").write_text(text.replace(old, new))
    return app


def test_word_count_has_one(tmp_path: Path) -> None:
    bundle, result = build(tmp_path)
    program = mapper(result.manifest)
    assert program.host == HostKernel("bin/map.host", True, True) and program.no_host == ()
    assert os.access(bundle / "bin" / "map.host", os.X_OK)
    assert "host kernel" in explain.explain_text(manifest.load(bundle))
    text = emit(options(), "host")
    assert "struct Fold {" in text and "HD_MAIN(app::hd_map, app::Shared, false)" in text


def test_a_bundle_with_one_is_left_alone_and_follows_its_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build(tmp_path)
    assert build(tmp_path)[1].programs == ()
    monkeypatch.setenv("CXX", "/nowhere/g++")
    assert build(tmp_path)[1].programs != ()


@pytest.mark.parametrize(("role", "old", "new", "why"), [
    ("map", "#pragma mapreduce", "// #pragma mapreduce", "the mapper has no kernel"),
    ("combine", "#pragma mapreduce", "// #pragma mapreduce", ""),
    ("combine", "if (strcmp(line", "if (line[0] == '*') exit(1); if (strcmp(line", "it may end the process at a pair"),
])
def test_what_it_does_not_do(role: str, old: str, new: str, why: str, tmp_path: Path) -> None:
    app = changed(tmp_path, role, old, new)
    text = (app / f"{role}.c").read_text().splitlines()
    if new.startswith("//"):  # the directive goes on in the next line
        at = next(i for i, line in enumerate(text) if line.startswith(new))
        text[at + 1] = f"//{text[at + 1]}"
        (app / f"{role}.c").write_text("\n".join(text))
    made = analyse(options(app)).manifest
    program = mapper(made)
    if role == "map":
        assert program.host is None and "[HD266]" in emit(options(app), "host")
        (reason,) = program.no_host
        assert reason.code == "HD266" and why in reason.message
        return
    assert program.host is not None and not program.host.folds and program.no_host == ()
    assert [(r.code, why in r.message) for r in program.host.no_folds] == ([("HD266", True)] if why else [])
    assert "hd::Lane<hd::TextSink>" in emit(options(app), "host")
    shown = explain.explain_text(made)
    assert "as a program that reads its split itself" in shown
    assert ("the combiner is a filter: " in shown) == bool(why) and why in shown


ORDERED = ("count += value;", "count = 3 * count + value;")  # no fold: the order of pairs shows


@pytest.mark.parametrize(("behind", "change", "folds"), [
    ('printf("lines\\t%d\\n", 1);', ("", ""), True), ('printf("lines\\t%d\\n", 1);', ORDERED, False),
    ('fprintf(stderr, "reporter:counter:a,b,%d\\n", 1);', ORDERED, True),
])
def test_pairs_from_behind_the_loop_need_a_combiner_that_runs_on_its_own_output(
    behind: str, change: tuple[str, str], folds: bool, tmp_path: Path,
) -> None:
    app = changed(tmp_path, "combine", *change)
    source = (app / "map.c").read_text()
    at = source.rindex("return 0;")
    (app / "map.c").write_text(source[:at] + behind + source[at:])
    host = mapper(analyse(options(app)).manifest).host
    assert host is not None and host.folds == folds
    reasons = [(r.code, "prints pairs behind its loop" in r.message) for r in host.no_folds]
    assert reasons == ([] if folds else [("HD266", True)])


def test_a_map_without_a_combiner_has_one(tmp_path: Path) -> None:
    bundle, result = build(tmp_path, ROOT / "apps" / "blackscholes")
    assert mapper(result.manifest).host == HostKernel("bin/map.host", False, False)
    assert os.access(bundle / "bin" / "map.host", os.X_OK)


def test_without_a_cpp_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "/nowhere/g++")
    bundle, result = build(tmp_path)
    program = mapper(result.manifest)
    assert program.host is None and [r.code for r in program.no_host] == ["HD510"]
    assert program.kernel is not None and not (bundle / "bin" / "map.host").exists()
    assert "no host kernel: C++ compiler not found: /nowhere/g++" in summary(bundle, result.manifest)
    assert "[HD510]" in explain.explain_text(manifest.load(bundle))


@pytest.mark.parametrize("strict", [False, True])
def test_a_compiler_that_fails(strict: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HETERODOOP_STRICT", "1" if strict else "0")
    monkeypatch.setenv("CXX", "false")
    if strict:
        with pytest.raises(ToolError, match="cannot compile the host kernel"):
            build(tmp_path)
        return
    bundle, result = build(tmp_path)
    program = mapper(result.manifest)
    assert program.host is None and [r.code for r in program.no_host] == ["HD263"]
    assert ["no host kernel" in w.message for w in result.warnings] == [True] * 2  # mapper and reducer
    assert manifest.load(bundle).program("map") == program


@pytest.mark.parametrize("name", ["describe_reducer", "reducer_text"])
def test_a_fault_of_ours_with_a_reducer(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise CompilerBug("no text")

    monkeypatch.setenv("HETERODOOP_STRICT", "0")
    monkeypatch.setattr(host_kernels, name, fail)
    bundle, result = build(tmp_path)
    program = result.manifest.program("reduce")
    assert program is not None and program.host is None and [r.code for r in program.no_host] == ["HD264"]
    assert not (bundle / "bin" / "reduce.host").exists() and (bundle / "bin" / "reduce").exists()


def test_a_reducer_has_one_and_explain_says_what_it_does(tmp_path: Path) -> None:
    bundle, result = build(tmp_path)
    program = result.manifest.program("reduce")
    assert program is not None and program.host == HostKernel("bin/reduce.host", False, False) and program.no_host == ()
    assert os.access(bundle / "bin" / "reduce.host", os.X_OK)
    text = explain.explain_text(manifest.load(bundle)).partition("reducer (")[2]
    assert "loop        fold: sum of long long in 'count' per 'previous'" in text and "(host kernel)" in text
    assert "HD_REDUCE_MAIN(app::Fold)" in emit(options(), "host")
    assert "key    previous\n" in emit(options(), "fold") and "then (count + v0)" in emit(options(), "fold")


@pytest.mark.parametrize(("old", "new", "line", "said"), [
    ("count += atoll(tab + 1);", "count = count * 3 + atoll(tab + 1);",
     "  loop        ordered: long long 'count' kept of 'previous', a step for each pair", ""),
    ("count += atoll(tab + 1);", "count += atoll(tab + 1) / strlen(tab);", "        count += atoll(tab + 1) / strlen(tab);",
     "is not understood"),
    ("while (getline", "while (getc(stdin) != EOF && getline", "", "[HD267]"),
])
def test_what_explain_says_of_other_reducers(old: str, new: str, line: str, said: str, tmp_path: Path) -> None:
    text = explain.explain_text(analyse(options(changed(tmp_path, "reduce", old, new))).manifest).partition("reducer (")[2]
    assert line in text and said in text
    if said and line:
        lines = text.splitlines()
        at = next(n for n, shown in enumerate(lines) if shown.endswith(line.strip()))
        assert "^" in lines[at + 1] and "[HD267]" in lines[at - 1]


@pytest.mark.parametrize("name", ["describe", "text"])
def test_a_fault_of_ours(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise CompilerBug("no text")

    monkeypatch.setenv("HETERODOOP_STRICT", "0")
    monkeypatch.setattr(host_kernels, name, fail)
    program = mapper(build(tmp_path)[1].manifest)
    assert program.kernel is not None and program.host is None and [r.code for r in program.no_host] == ["HD264"]


def test_a_prologue_that_cannot_be_built_costs_it_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from heterodoop.compiler.emit import prologue

    def fail(*_: object) -> None:
        raise ToolError("ld failed", code="HD503")

    monkeypatch.setattr(prologue, "build_prologue", fail)
    _, result = build(tmp_path, ROOT / "apps" / "pagerank")
    program = mapper(result.manifest)
    assert program.kernel is None and program.host is None and [r.code for r in program.no_host] == ["HD266"]


SOUGHT = r"""#include <stdio.h>
#include <string.h>
int main(void)
{
    char *line = NULL;
    size_t size = 0;
    int one = 1;
#pragma mapreduce mapper key(line) value(one) keylength(64)
    while (getline(&line, &size, stdin) != -1)
        if (strstr(line, "a \"b\"\t\xff"))
            printf("%s\t%d\n", "x", one);
    return 0;
}
"""


def test_explain_says_which_records_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "map.c").write_text(SOUGHT)
    sought = [(ROOT / "apps" / "grep", "what 'pattern' holds"), (tmp_path / "map.c", r'"a \"b\"\t\377"'), (WORDCOUNT, "")]
    for app, text in sought:
        said = explain.explain_text(analyse(options(app)).manifest)
        assert (f"; records without {text} are passed over\n" in said) == bool(text), said
