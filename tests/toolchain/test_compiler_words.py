"""The words of $CC and $CXX: which reach files of ours, which the analysis, which keep a program off devices."""

from __future__ import annotations

from pathlib import Path

import pytest

from heterodoop.compiler import spine
from heterodoop.compiler.app import BuildOptions
from heterodoop.toolchain import cc as toolchain
from heterodoop.toolchain import compiler_words
from heterodoop.toolchain.cc import CcOptions

from ..support import cli_here, parts

MAP = """#include <stdio.h>
#include <string.h>
int main(void)
{
    char line[99];
    int v, base = 10;
    const char *when = __DATE__ __TIME__ __BASE_FILE__;
#pragma mapreduce mapper key(line) value(v)
    while (fgets(line, sizeof(line), stdin)) {
        line[strcspn(line, "\\n")] = 0;
        v = base + line[0];
#ifdef __OPTIMIZE__
        v += 1000;
#endif
#ifdef __NO_INLINE__
        v += 2000;
#endif
        printf("%s %s\\t%d\\n", line, when, v);
    }
    return 0;
}
"""


@pytest.mark.parametrize(
    ("words", "own"),
    [("gcc", "gcc"), ("ccache gcc -g -Wall", "ccache gcc"),
     ("gcc -m64 -ansi -std=c89 -include x.h -Dx=y -D z -I inc -O0 -Werror", "gcc -m64"),
     ("clang --target=x86_64-linux-gnu -B /opt -isystem /usr/include -fPIE", "clang --target=x86_64-linux-gnu -B /opt "
      "-isystem /usr/include -fPIE"),
     ("gcc -fsanitize=address -mlong-double-64 -Wl,-z,now @more", "gcc -fsanitize=address -Wl,-z,now")],
)
def test_files_of_ours_get_compiler_and_machine_alone(words: str, own: str) -> None:
    assert compiler_words.own(words.split()) == own.split()


def test_looking_keeps_the_meaning_without_warnings_and_by_products() -> None:
    words = "gcc -Wall -Wp,-DX -Werror -pedantic-errors -MMD -MF x.d -save-temps -P -CC -dD -H -v -o x "
    words += "-funsigned-char -include x.h"
    assert compiler_words.quiet(words.split()) == "gcc -Wp,-DX -funsigned-char -include x.h".split()


@pytest.mark.parametrize(("words", "standard"), [("gcc", ""), ("gcc -ansi", "c90"), ("gcc -ansi -std=c99", "c99"),
                                                 ("cc --std=gnu2x", "gnu2x")])
def test_the_standard_of_the_words(words: str, standard: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert compiler_words.standard(words.split()) == standard
    monkeypatch.setenv("CC", words)
    assert toolchain.standard() == (standard or "gnu11")


@pytest.mark.parametrize(
    ("words", "found"),
    [("gcc -g -O0 -Wall -ftrapv -fwrapv -march=native -D_FORTIFY_SOURCE=2 -fstack-protector", ""),
     ("gcc -ffast-math", "-ffast-math"), ("gcc -ffast-math -fno-fast-math", ""), ("gcc -Ofast", "-Ofast"),
     ("gcc -funsigned-char -fsigned-char", ""), ("gcc -funsigned-char -fshort-enums -fpack-struct=2", "-funsigned-char "
      "-fshort-enums -fpack-struct=2"), ("gcc -m32 -mlong-double-64", "-m32 -mlong-double-64"),
     ("gcc -fsanitize=undefined -fopenmp", "-fsanitize=undefined -fopenmp"),
     ("gcc -fexec-charset=latin1 -finput-charset=latin1 -fsingle-precision-constant", "-fexec-charset=latin1 "
      "-fsingle-precision-constant")],
)
def test_words_that_give_programs_another_meaning(words: str, found: str) -> None:
    assert compiler_words.changes(words.split()) == found.split()


@pytest.mark.parametrize("cc", ["gcc -g", "gcc -Wall -Wextra -Werror -pedantic-errors -fdiagnostics-color=always -ggdb3",
                                "gcc -ansi -O0 -include string.h -Werror=unknown-pragmas", "gcc -P -CC -v"])
def test_words_of_a_builder_change_nothing(cc: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The filter, the kernel's text and the prologue know the same macros, and files of ours compile."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CC", cc)
    monkeypatch.setattr(toolchain, "build_time", lambda: "1000000000")  # so that the kernels are built once
    Path("map.c").write_text(MAP)
    Path("in").write_bytes(b"ab\n\xe4\n")
    done = cli_here("compile", "map.c", "-o", "a.hdp", "--arch", "none")
    assert "pragma" not in done.message and "CPU and GPU" in done.out.decode() + done.message
    cli_here("run", "a.hdp", "in", "-o", "cpu", "--device", "cpu", "--quiet")
    cli_here("run", "a.hdp", "in", "-o", "emulated", "--device", "emulated", "--quiet")
    assert parts(Path("cpu")) == parts(Path("emulated")) != [b""]
    assert b"ab Sep  9 200101:46:40map.c\t1107" in parts(Path("cpu"))[0]


@pytest.mark.parametrize(("cc", "why"), [("gcc -ffast-math", "-ffast-math"), ("gcc @words", "an enum is an int")])
def test_a_program_whose_compiler_means_something_else_stays_on_the_cpu(
    cc: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CC", cc)
    Path("words").write_text("-fshort-enums")
    Path("map.c").write_text(MAP)
    (program,) = spine.analyse(BuildOptions.make(["map.c"])).manifest.programs
    (reason,) = program.gpu_refusals
    assert (reason.code, reason.place, program.kernel) == ("HD307", "map.c", None) and why in reason.message


def test_what_time_it_is_for_all_that_is_compiled(tmp_path: Path) -> None:
    (tmp_path / "m.c").write_text('const char *when = __DATE__ " " __TIME__;\n')
    said = [toolchain.run([*toolchain.find_cc(), "-E", "-P", str(tmp_path / "m.c")]).stdout for _ in range(2)]
    assert said[0] == said[1] and toolchain.build_time().isdigit()


def test_a_program_without_a_standard_of_its_own_gets_that_of_the_compilers_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "map.c").write_text(MAP)
    monkeypatch.setenv("CC", "gcc -std=c99")
    assert BuildOptions.make([str(tmp_path / "map.c")]).cc.std == "c99"
    assert BuildOptions.make([str(tmp_path / "map.c")], std="gnu17").cc == CcOptions(std="gnu17")
