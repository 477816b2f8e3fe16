"""Faults of our own, compilers that fail on our text and programs that are too deep cost the kernel, and nothing else."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from heterodoop.compiler import kernels, passes
from heterodoop.compiler.app import BuildOptions
from heterodoop.compiler.compile import CompileResult, compile_to_bundle
from heterodoop.compiler.source import deep, frontend
from heterodoop.compiler.spine import analyse
from heterodoop.errors import CompilerBug, ToolError

from ..support import cli_here, parts

MAP = """#include <stdio.h>
int main(void)
{
    char line[99], key[2];
    int v;
#pragma mapreduce mapper key(key) value(v)
    while (fgets(line, sizeof line, stdin)) {
        key[0] = line[0];
        key[1] = 0;
        v = %s;
        printf("%%s\\t%%d\\n", key, v);
    }
    return 0;
}
"""
PLAIN = MAP % "line[0] & 7"


@pytest.fixture(autouse=True)
def as_a_user(own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HETERODOOP_STRICT", "0")


def _compile(folder: Path, text: str = PLAIN, arch: str = "none") -> tuple[Path, CompileResult]:
    (folder / "map.c").write_text(text)
    return compile_to_bundle(BuildOptions.make([str(folder / "map.c")], arch=[arch]), folder / "app.hdp")


def _runs(bundle: Path, folder: Path, *more: str) -> str:
    """The job's messages; its output must be the CPU's."""
    (folder / "in").write_text("abc\nxyz\n")
    done = cli_here("run", bundle, folder / "in", "-o", folder / "out", *more)
    assert parts(folder / "out") == [b"a\t1\nx\t0\n"]
    return done.err.decode()


@pytest.mark.parametrize(("where", "error"), [
    ("frontend.load", TypeError("None")), ("passes.run", CompilerBug("no text")),
    ("kernels.describe", KeyError("x")), ("kernels.text", RecursionError()),
    ("passes.run", MemoryError()),
])
def test_a_fault_of_ours_costs_the_kernel(
    where: str, error: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*args: object, **options: object) -> None:
        raise error

    module, name = where.split(".")
    monkeypatch.setattr({"frontend": frontend, "passes": passes, "kernels": kernels}[module], name, fail)
    bundle, result = _compile(tmp_path)
    (program,) = result.manifest.programs
    ours = not isinstance(error, (RecursionError, MemoryError))
    assert program.kernel is None and [r.code for r in program.gpu_refusals] == ["HD264" if ours else "HD265"]
    assert [w.code for w in result.warnings] == (["HD264"] if ours else [])
    if ours:
        assert f"HeteroDoop failed on it: {type(error).__name__}" in result.warnings[0].message
        assert "please report this" in result.warnings[0].help
    assert "[HD26" in _runs(bundle, tmp_path, "--device", "emulated")


def test_our_tests_see_a_fault_as_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: object, **options: object) -> None:
        raise CompilerBug("no text")

    monkeypatch.setenv("HETERODOOP_STRICT", "1")
    monkeypatch.setattr(passes, "run", fail)
    with pytest.raises(CompilerBug):
        _compile(tmp_path)


def _nvcc(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = folder / "cuda" / "bin" / "nvcc"
    path.parent.mkdir(parents=True)
    version = "echo 'Cuda compilation tools, release 12.9, V12.9.1'"
    path.write_text(f"#!/bin/sh\n[ \"$1\" = --version ] && {{ {version}; exit 0; }}\n{script}\n")
    path.chmod(0o755)
    monkeypatch.setenv("CUDA_HOME", str(folder / "cuda"))


@pytest.mark.parametrize(("script", "said"), [
    ("echo 'map.c(9): error: expected a ;' >&2; exit 2", "map.c(9): error: expected a ;"),
    ("kill -9 $$", "signal 9"), ("sleep 60", "did not end within 5 s"), ("exit 3", "exit status 3"),
])
def test_nvcc_that_fails_costs_the_kernel(script: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HETERODOOP_COMPILER_SECONDS", "5")
    _nvcc(tmp_path, script, monkeypatch)
    bundle, result = _compile(tmp_path, arch="sm_90")
    (program,) = result.manifest.programs
    assert program.kernel is None and said in program.gpu_refusals[0].message
    assert program.gpu_refusals[0].place == f"{tmp_path}/map.c:6:1"
    assert [w.code for w in result.warnings] == ["HD263"]
    assert said in cli_here("explain", bundle).out.decode() and said in _runs(bundle, tmp_path, "--device", "emulated")


def test_an_architecture_that_nvcc_does_not_know_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _nvcc(tmp_path, "echo \"nvcc fatal   : Unsupported gpu architecture 'compute_99'\" >&2; exit 1", monkeypatch)
    (tmp_path / "map.c").write_text(PLAIN)
    done = cli_here("compile", tmp_path / "map.c", "-o", tmp_path / "app.hdp", "--arch", "sm_99", status=2)
    assert b"[HD006]" in done.err and b"compute_99" in done.err


@pytest.mark.parametrize("script", ["echo 'map.c:9:1: error: no' >&2; exit 1", "kill -9 $$", "sleep 60"])
def test_a_kernel_that_the_emulated_device_cannot_compile_is_the_cpus(
    script: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HETERODOOP_COMPILER_SECONDS", "5")
    compiler = tmp_path / "my-g++"
    compiler.write_text(f"#!/bin/sh\ncase \"$*\" in */map.cu*) {script};; esac\nexec g++ \"$@\" -O0\n")
    compiler.chmod(0o755)
    bundle, result = _compile(tmp_path)
    assert not result.warnings
    monkeypatch.setenv("CXX", str(compiler))
    said = _runs(bundle, tmp_path, "--device", "emulated")
    assert "[HD411]" in said and "the text of cuda/map.cu cannot be compiled (please report this" in said


def test_a_prologue_that_ours_fails_on_costs_the_kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: object, **options: object) -> None:
        raise ToolError("cc did not end within 300 s", code="HD503")

    monkeypatch.setattr(kernels.prologue, "build_prologue", fail)
    text = PLAIN.replace("    int v;", "    int v, more = 3;\n    sscanf(\"8\", \"%d\", &more);").replace("& 7", "& more")
    (program,) = _compile(tmp_path, text)[1].manifest.programs
    assert program.kernel is None and [r.code for r in program.gpu_refusals] == ["HD246"]


DEEP = {
    "a sum": " + ".join(f"(line[{n % 3}] & {n})" for n in range(1200)), "brackets": "(" * 900 + "line[0]" + ")" * 900,
    "sums in sums": "(v + " * 900 + "line[0]" + ")" * 900,
    "a choice": " : ".join(f"v == {n} ? {n}" for n in range(600)) + " : 5",
}


def test_deep_expressions_keep_their_kernel(tmp_path: Path) -> None:
    deepest = "".join(f"if (v != {n}) {{ " for n in range(200)) + "v++;" + " }" * 200
    body = "v = 0; " + " ".join(f"v = {text};" for text in DEEP.values()) + deepest
    path = tmp_path / "map.c"
    path.write_text((MAP % "0").replace("v = 0;", body))
    usual = sys.getrecursionlimit()
    (program,) = analyse(BuildOptions.make([str(path)])).programs
    assert program.region is not None and program.region.has_kernel, program.refusals
    assert "hd::add" in kernels.text(program.region) and sys.getrecursionlimit() == usual


def test_what_is_too_deep_even_so_is_the_cpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deep, "_LIMIT", 900)
    (program,) = _compile(tmp_path, MAP % DEEP["a sum"])[1].manifest.programs
    assert program.kernel is None and program.gpu_refusals[0].code in ("HD265", "HD303")


def test_loops_in_loops_end_the_analysis(tmp_path: Path) -> None:
    loops = "".join(f"for (int i{n} = 0; i{n} < 2; i{n}++) {{ " for n in range(24)) + "v++;" + " }" * 24
    path = tmp_path / "map.c"
    path.write_text((MAP % "0").replace("v = 0;", "v = 0; " + loops))
    (program,) = analyse(BuildOptions.make([str(path)])).manifest.programs
    assert [r.code for r in program.gpu_refusals] == ["HD231"]


def test_a_combine_kernel_that_cannot_be_compiled_costs_that_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiler = tmp_path / "my-g++"
    compiler.write_text("#!/bin/sh\ncase \"$*\" in */combine.cu*) exit 1;; esac\nexec g++ \"$@\" -O0\n")
    compiler.chmod(0o755)
    app = Path(__file__).parents[2] / "apps" / "wordcount"
    bundle, _ = compile_to_bundle(BuildOptions.make([str(app)], arch=["none"]), tmp_path / "app.hdp")
    monkeypatch.setenv("CXX", str(compiler))
    (tmp_path / "in").write_text("a b a\n")
    done = cli_here("run", bundle, tmp_path / "in", "-o", tmp_path / "out", "--device", "emulated")
    said = done.err.decode()
    assert "warning[HD426]: the text of cuda/combine.cu cannot be compiled" in said and "HD410" not in said
    assert parts(tmp_path / "out") == [b"a\t2\nb\t1\n"]
