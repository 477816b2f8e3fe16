"""Programs in C++ are filters like any other: built by $CXX, with what C filters are built with, and on the CPU alone."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from heterodoop import manifest
from heterodoop.compiler.compile import BuildOptions, compile_to_bundle
from heterodoop.errors import ToolError, UsageError, UserError

from ..support import ROOT, cli_here, parts

# The numbers that are printed tell which exp() it is, and how large stdio's buffers are.
COMBINE = r"""
#include <cmath>
#include <cstdio>
#include <stdio_ext.h>
#ifndef TIMES
#error "no CXXFLAGS"
#endif
template <typename T> T twice(T x) { return TIMES * x; }
int main(int argc, char **)
{
    char key[100];
    double value;
#pragma mapreduce combiner key(key) value(value) keyin(key) valuein(value)
    while (std::scanf("%99s %lf", key, &value) == 2)
        std::printf("%s\t%.17g\n", key, twice(std::exp(value * argc)));
    std::fprintf(stderr, "reporter:counter:buffers,%d,1\n", int(__fbufsize(stdin)));
}
"""
C_COMBINE = r"""
#include <math.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    char key[100];
    double value;
    while (scanf("%99s %lf", key, &value) == 2)
        printf("%s\t%.17g\n", key, 2 * exp(value * argc));
    return argv == NULL;
}
"""
CALLS = r"""
#include <stdio.h>
int next(int);
int main(void)
{
    char line[99];
    int n = 0;
#pragma mapreduce mapper key(line) value(n)
    while (fgets(line, 99, stdin)) {
        n = next(1);
        printf("%d\t%d\n", n, n);
    }
    return 0;
}
"""
CALLED = """
#include <string>
extern "C" int next(int n) { return std::stoi(std::to_string(n)) + 1; }
"""
LOCALE = """
#include <locale>
int main(int count, char **words) { return std::locale(words[count - 1]) == std::locale(); }
"""
REDUCE = "#include <cstdio>\nint main() { for (int c; (c = std::getchar()) != EOF; ) std::putchar(c); }\n"
TEXT = b"one two\nthree one\n"


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """map.cc is the page's, combine.cpp and reduce.cxx are ours."""
    folder = tmp_path_factory.mktemp("cplusplus") / "app"
    folder.mkdir()
    page = (ROOT / "docs" / "writing-an-app.md").read_text(encoding="utf-8")
    found = re.search(r"^```c\+\+\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    assert found
    (folder / "map.cc").write_text(found[1])
    (folder / "combine.cpp").write_text(COMBINE)
    (folder / "reduce.cxx").write_text(REDUCE)
    (folder.parent / "in").write_bytes(TEXT)
    return folder


@pytest.fixture(scope="module")
def bundle(app: Path) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CXXFLAGS", "-DTIMES=2")
        done = cli_here("compile", app, "-o", app.parent / "app.hdp", "-std=c++17")
    said = done.err.decode()
    assert f"map     CPU only ({app}/map.cc: it is C++, and kernels are made of C [HD270])" in said
    assert f"combine CPU only ({app}/combine.cpp:13: it is C++, so the directive has no effect" in said
    return app.parent / "app.hdp"


def test_a_job_of_cplusplus_prints_what_its_programs_print_in_a_pipe(bundle: Path, tmp_path: Path) -> None:
    report = cli_here("run", bundle, bundle.parent / "in", "-o", tmp_path / "out", "--json")
    piped = "bin/map | LC_ALL=C sort | bin/combine | bin/reduce"
    expected = subprocess.run(["sh", "-c", piped], input=TEXT, cwd=bundle, capture_output=True, check=True).stdout
    assert parts(tmp_path / "out") == [expected] and expected.count(b"\n") == 4
    assert b'"65536": 1' in report.out  # its buffers, as a filter of C has them


def test_cplusplus_calls_our_own_exp(bundle: Path, tmp_path: Path) -> None:
    (tmp_path / "map.c").write_text(C_COMBINE)
    in_c, _ = compile_to_bundle(BuildOptions.make([str(tmp_path / "map.c")], arch=["none"]), tmp_path / "c.hdp")
    numbers = "".join(f"k\t{n / 7}\n" for n in range(-500, 500)).encode()
    printed = [subprocess.run([program], input=numbers, capture_output=True, check=True).stdout
               for program in (bundle / "bin" / "combine", in_c / "bin" / "map")]
    assert printed[0] == printed[1] and printed[0].count(b"\n") == 1000


def test_a_bundle_tells_its_programs_and_is_kept(
    app: Path, bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = manifest.load(bundle)
    assert [program.sources for program in found.programs] == [("src/map.cc",), ("src/combine.cpp",), ("src/reduce.cxx",)]
    assert [program.gpu_refusals[0].code for program in found.programs] == ["HD270"] * 3
    assert {program.linked for program in found.programs} == {"static"}
    explained = cli_here("explain", bundle).out.decode()
    assert explained.count("[HD270] it is C++") == 3
    copy = shutil.copytree(bundle, tmp_path / "copy.hdp")
    made = [os.stat(copy / manifest.FILE).st_ino]
    for flags in ("-DTIMES=2", "-DTIMES=3"):
        monkeypatch.setenv("CXXFLAGS", flags)
        cli_here("compile", app, "-o", copy, "-std=c++17")
        made.append(os.stat(copy / manifest.FILE).st_ino)
    assert made[0] == made[1] != made[2]


def test_what_is_wrong_is_said_with_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "map.cc"
    program.write_text("int main()\n{\n    auto x = 1;\n    return y;\n}\n")
    options = BuildOptions.make([str(program)], arch=["none"])
    with pytest.raises(UserError) as caught:
        compile_to_bundle(options, tmp_path / "x.hdp")
    assert str(caught.value.diagnostics[0].span) == f"{program}:4:12"
    assert cli_here("explain", program, status=3).err.decode().startswith(f"{program}:4:12: error")
    monkeypatch.setenv("CXX", "no-such-compiler")
    with pytest.raises(ToolError) as missing:
        compile_to_bundle(options, tmp_path / "x.hdp")
    assert missing.value.code == "HD510"
    (tmp_path / "map.c").write_text("int main(void) { return 0; }\n")
    with pytest.raises(UsageError, match=r"holds map\.c and map\.cc"):
        BuildOptions.make([str(tmp_path)])


def test_a_program_of_c_that_is_linked_with_cplusplus(tmp_path: Path) -> None:
    (tmp_path / "map.c").write_text(CALLS)
    (tmp_path / "util.cc").write_text(CALLED)
    (tmp_path / "in").write_bytes(b"a\n")
    done = cli_here("compile", tmp_path / "map.c", tmp_path / "util.cc", "-o", tmp_path / "x.hdp", "--arch", "none")
    assert "the program is linked with util.cc, which is C++" in done.err.decode()
    cli_here("run", tmp_path / "x.hdp", tmp_path / "in", "-o", tmp_path / "out")
    assert parts(tmp_path / "out") == [b"2\t2\n"]


def test_a_named_locale_is_read_at_run_time(tmp_path: Path) -> None:
    (tmp_path / "map.cc").write_text(LOCALE)
    bundle, _ = compile_to_bundle(BuildOptions.make([str(tmp_path)]), tmp_path / "x.hdp")
    assert manifest.load(bundle).programs[0].linked == "dynamic"
    assert os.access(bundle / "bin" / "map", os.X_OK)
