"""runtime/cpu/stdio_buffers.c in the filters of a bundle: it is in use, and no program notices it."""

from __future__ import annotations

import os
import pty
import subprocess
import tty
from pathlib import Path

import pytest

from heterodoop.compiler.compile import BuildOptions, compile_to_bundle
from heterodoop.resources import find
from heterodoop.toolchain.cc import CcOptions, build_filter, build_object

LARGE = 65536
SIZES = r"""
#include <stdio.h>
#include <stdio_ext.h>
int main(void)
{
    int c = getchar();
    printf("%c\t1\n", c);
    fprintf(stderr, "%zu %zu", __fbufsize(stdin), __fbufsize(stdout));
    return 0;
}
"""


def filters(folder: Path, text: str, roles: tuple[str, ...] = ("map",), **options: object) -> Path:
    """The bin/ folder of an app whose programs all have this text."""
    app = folder / "app"
    app.mkdir()
    for role in roles:
        (app / f"{role}.c").write_text(text)
    bundle, _ = compile_to_bundle(BuildOptions.make([str(app)], **options), folder / "app.hdp")
    assert sorted(p.name for p in bundle.iterdir()) == ["bin", "build.key", "manifest.json", "src"]
    return bundle / "bin"


def run(argv: list[str | Path], data: bytes) -> tuple[int, bytes, bytes]:
    done = subprocess.run(argv, input=data, capture_output=True, check=False, timeout=20)
    return done.returncode, done.stdout, done.stderr


def test_every_filter_has_large_buffers_on_pipes(tmp_path: Path) -> None:
    roles = ("map", "combine", "reduce")
    made = filters(tmp_path, SIZES, roles)
    assert {role: run([made / role], b"a") for role in roles} == dict.fromkeys(roles, (0, b"a\t1\n", b"65536 65536"))


def test_large_buffers_on_files_and_none_on_a_terminal_or_a_device(tmp_path: Path) -> None:
    binary = filters(tmp_path, SIZES) / "map"
    (tmp_path / "in").write_bytes(b"a")
    with open(tmp_path / "in") as source, open(tmp_path / "out", "w") as target:
        done = subprocess.run([binary], stdin=source, stdout=target, stderr=subprocess.PIPE, check=True)
    assert done.stderr == b"65536 65536" and (tmp_path / "out").read_bytes() == b"a\t1\n"
    done = subprocess.run([binary], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=True)
    assert str(LARGE) not in done.stderr.decode()
    assert str(LARGE) not in on_a_terminal(binary)


def on_a_terminal(binary: Path) -> str:
    controller, terminal = pty.openpty()
    try:
        tty.setraw(terminal)
        os.write(controller, b"a")
        done = subprocess.run([binary], stdin=terminal, stdout=terminal, stderr=subprocess.PIPE, check=True, timeout=20)
        assert os.read(controller, 100) == b"a\t1\n"
        return done.stderr.decode()
    finally:
        os.close(controller)
        os.close(terminal)


BODIES = {
    "copies": "int c; while ((c = getchar()) != EOF) putchar(c);",
    "no buffer": "setvbuf(stdout, NULL, _IONBF, 0); puts(\"a\"); _exit(0);",
    "line buffer": "setvbuf(stdout, NULL, _IOLBF, 0); fputs(\"a\\nb\", stdout); _exit(0);",
    "buffer of its own": "static char b[16]; setvbuf(stdin, b, _IOFBF, 16); getchar(); return (int)read(0, b, 16);",
    "setbuf": "setbuf(stdin, NULL); char b[9]; getchar(); return (int)read(0, b, 9);",
    "closes stdin": "getchar(); fclose(stdin); puts(\"a\");",
    "closes stdout": "puts(\"a\"); fclose(stdout); return write(1, \"b\", 1) == 1;",
    "reopens": "FILE *f = freopen(\"/dev/null\", \"r\", stdin); printf(\"%d %d\", f == stdin, getchar());",
    "forks": "puts(\"a\"); if (fork() == 0) { puts(\"child\"); return 0; } wait(NULL); puts(\"parent\");",
    "runs a command": "puts(\"a\"); fflush(stdout); system(\"echo b\"); puts(\"c\");",
    "pushes back": "ungetc('z', stdin); ungetc(getchar(), stdin); int c; while ((c = getchar()) != EOF) putchar(c);",
    "a constructor of its own": "puts(\"a\"); if (chosen) _exit(0);",
    "errno": "return errno;",
    "descriptors": "char b[99]; ssize_t n; while ((n = read(0, b, sizeof b)) > 0) write(1, b, (size_t)n);",
}
PROGRAM = r"""
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/wait.h>
static int chosen;
__attribute__((constructor(101))) static void choose(void) { CHOOSE }
int main(void) { BODY return 0; }
"""


@pytest.fixture(scope="module")
def buffers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("object") / "stdio_buffers.o"
    build_object(find("runtime", "cpu", "stdio_buffers.c"), target)
    return target


@pytest.mark.parametrize("name", BODIES)
def test_a_program_does_as_without_it(name: str, buffers: Path, tmp_path: Path) -> None:
    choose = "chosen = setvbuf(stdout, NULL, _IONBF, 0) == 0;" if name == "a constructor of its own" else "chosen = 0;"
    text = PROGRAM.replace("CHOOSE", choose).replace("BODY", BODIES[name])
    (tmp_path / "map.c").write_text(text)
    made, plain = tmp_path / "map", tmp_path / "plain"
    build_filter([buffers, tmp_path / "map.c"], made, CcOptions())
    build_filter([tmp_path / "map.c"], plain, CcOptions())
    long = b"".join(b"line %d\n" % i for i in range(20000))
    closed = ["/bin/sh", "-c", '"$0" <&- && "$0" >&- && exec "$0" <&- >&-']
    for data in (b"", b"a\nb", long):
        assert run([made], data) == run([plain], data)
    assert run([*closed, made], b"")[0] == run([*closed, plain], b"")[0]


def test_names_and_macros_of_the_user_do_not_reach_it(tmp_path: Path) -> None:
    names = ["fstat", "fstatat", "stat", "is_bulk", "is_taken", "enlarge", "enlarge_standard_buffers", "write"]
    text = "".join(f"int {name}(void) {{ return 1; }}\n" for name in names) + "char input_buffer[3], output_buffer[3];\n"
    made = filters(
        tmp_path, text + SIZES.replace("int c =", "int c;\n    c ="), std="gnu89",
        define=("BUFFER_BYTES=(", "S_ISFIFO=nothing", "fstatat64=nothing", "setvbuf=nothing", "status=)"),
    )
    assert run([made / "map"], b"a") == (0, b"a\t1\n", b"65536 65536")


@pytest.mark.parametrize("std", ["c89", "c99", "gnu11", "c11"])
def test_it_compiles_under_every_standard(std: str, tmp_path: Path) -> None:
    source = find("runtime", "cpu", "stdio_buffers.c")
    strict = ["-pedantic-errors", "-Wall", "-Wextra", "-Werror"]
    assert run(["cc", f"-std={std}", *strict, "-O3", "-c", "-o", tmp_path / "o", source], b"") == (0, b"", b"")
