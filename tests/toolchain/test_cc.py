"""Finding and running the C compiler: no shell, no option by accident, every failure told."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import tempfile
import time
from contextlib import nullcontext
from pathlib import Path

import pytest

from heterodoop.errors import ToolError, UserError
from heterodoop.hdcodes import CODES
from heterodoop.toolchain import cc as toolchain
from heterodoop.toolchain.cc import CcOptions, build_filter, find_cc, plain_path, read_messages

ECHO = "#include <stdio.h>\nint main(void) { int c; while ((c = getchar()) != EOF) putchar(c); return 0; }\n"
NAMES = [
    "x;touch PWNED;.txt", "$(touch PWNED).c", "`touch PWNED`", "a|touch PWNED", "x.c -o PWNED", "x'; touch PWNED; '",
    "-oPWNED.c",
    "--help.c", "@args.c", "my map.c", "it's.c", 'quo"te.c', "größe.c", "a\nb.c", "-", "map",
]


def script(path: Path, text: str) -> Path:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def run(binary: str, data: bytes) -> bytes:
    return subprocess.run([os.path.abspath(binary)], input=data, capture_output=True, check=True).stdout


# ------------------------------------------------------------------------------------------ finding


def test_no_compiler() -> None:
    with pytest.raises(ToolError, match=r"C compiler not found \(looked for \$CC, cc, gcc\)") as error:
        find_cc({"PATH": "/empty"})
    assert error.value.exit_code == 5 and error.value.code == "HD502" and "install gcc" in error.value.help


def test_a_chosen_compiler_is_never_replaced() -> None:
    with pytest.raises(ToolError, match=r"looked for \$CC=no-such-cc -m64"):
        find_cc({"PATH": os.environ["PATH"], "CC": "no-such-cc -m64"})
    with pytest.raises(ToolError, match="not found"):
        find_cc({"PATH": os.environ["PATH"], "CC": "'unclosed"})


def test_order_and_words(tmp_path: Path) -> None:
    cc, gcc, mine = (str(script(tmp_path / name, "true")) for name in ("cc", "gcc", "mine"))
    assert find_cc({"PATH": str(tmp_path)}) == [cc]
    assert find_cc({"PATH": str(tmp_path), "CC": "mine -m64 'a b'"}) == [mine, "-m64", "a b"]
    os.unlink(cc)
    assert find_cc({"PATH": str(tmp_path), "CC": " "}) == [gcc]


def test_version_is_one_line() -> None:
    assert "\n" not in toolchain.version(find_cc()) and any(c.isdigit() for c in toolchain.version(find_cc()))


# ------------------------------------------------------------------------------------------ running


@pytest.mark.parametrize(("path", "plain"), [("-o", "./-o"), ("@x", "./@x"), ("a/-o", "a/-o"), ("./-o", "./-o")])
def test_plain_paths(path: str, plain: str) -> None:
    assert plain_path(path) == plain


def test_locale_is_c_and_input_reaches_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    program = "import os,sys; print(os.environ['LC_ALL'], sys.stdin.read())"
    output = toolchain.run([sys.executable, "-c", program], stdin="über\udcff")
    assert output.returncode == 0 and output.stdout.startswith("C ")


def test_command_that_cannot_run() -> None:
    with pytest.raises(ToolError, match="cannot run /no/such/tool: No such file"):
        toolchain.run(["/no/such/tool"])
    with pytest.raises(ToolError, match="cannot run"):
        toolchain.run(["a\0b"])


def test_timeout_kills_the_whole_group(tmp_path: Path) -> None:
    marker = tmp_path / "alive"
    tool = script(tmp_path / "slow", f"(sleep 2; touch {marker}) & sleep 30")
    start = time.monotonic()
    with pytest.raises(ToolError, match=r"did not end within 0.3 s"):
        toolchain.run([str(tool)], timeout=0.3)
    assert time.monotonic() - start < 20
    time.sleep(2.2)
    assert not marker.exists()


@pytest.mark.parametrize("how", ["end", "killed", "late"])
def test_what_a_tool_leaves_among_temporary_files_goes(how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    last = {"end": "exit 0", "killed": "kill -9 $$", "late": "sleep 30"}[how]
    tool = script(tmp_path / "cc", f'echo half > "$TMPDIR/ccXYZ.s"; echo $TMPDIR; {last}')
    with pytest.raises(ToolError) if how == "late" else nullcontext():
        said = toolchain.run([str(tool)], timeout=0.5 if how == "late" else 30).stdout
        assert said.startswith(f"{tmp_path}/heterodoop-tool-")
    assert list(tmp_path.iterdir()) == [tool]


@pytest.mark.parametrize(
    ("body", "words"), [("kill -9 $$", "signal 9"), ("exit 3", "exit status 3"), ("echo odd >&2; exit 1", "odd")],
)
def test_compiler_that_fails_without_a_message(
    body: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CC", str(script(tmp_path / "mycc", body)))
    with pytest.raises(ToolError, match=words) as error:
        build_filter(["x.c"], tmp_path / "x", CcOptions())
    assert error.value.code == "HD503"


@pytest.mark.parametrize("words", ["gcc -E", "gcc -fsyntax-only", "gcc --version"])
def test_a_compiler_that_is_told_to_make_no_program(words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", words)
    (tmp_path / "x.c").write_text("int main(void) { return 0; }\n")
    with pytest.raises(ToolError, match=f"{words} made no program") as error:
        build_filter([tmp_path / "x.c"], tmp_path / "x", CcOptions())
    assert error.value.code == "HD503" and "-c" in error.value.help


# ------------------------------------------------------------------------------------------ building


@pytest.mark.parametrize("name", NAMES)
def test_sources_and_outputs_of_any_name(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("args.c").write_text("-wrapper /bin/sh,-c,touch PWNED")
    Path(f"./{name}").write_text(ECHO)
    assert build_filter([name], "out", CcOptions()) == []
    assert run("out", b"a\tb\n") == b"a\tb\n"
    build_filter([name], f"{name}.bin", CcOptions())
    assert run(f"./{name}.bin", b"x") == b"x"
    assert not list(tmp_path.rglob("PWNED*"))


def test_folders_and_outputs_that_look_like_options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("-inc").mkdir()
    Path("-inc/n.h").write_text("#define N 7\n")
    Path("m.c").write_text('#include <stdio.h>\n#include <n.h>\nint main(void) { printf("%d %s", N, TEXT); return 0; }\n')
    build_filter(["m.c"], "-out", CcOptions(includes=("-inc",), defines=('TEXT="a b; c"',)))
    assert run("./-out", b"") == b"7 a b; c"


def test_several_sources_libraries_and_the_math_library(tmp_path: Path) -> None:
    main = 'int main(void) { printf("%.3f", half(2)); return 0; }\n'
    (tmp_path / "a.c").write_text(f"#include <stdio.h>\ndouble half(double);\n{main}")
    (tmp_path / "b.c").write_text("#include <math.h>\ndouble half(double x) { return sqrt(x) / 2; }\n")
    build_filter([tmp_path / "a.c", tmp_path / "b.c"], tmp_path / "x", CcOptions(libraries=("pthread",)))
    assert run(str(tmp_path / "x"), b"") == b"0.707"


def test_objects_can_be_linked(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("int f(void);\nint main(void) { return f(); }\n")
    (tmp_path / "b.c").write_text("int f(void) { return 0; }\n")
    subprocess.run(["cc", "-c", "-o", tmp_path / "b.o", tmp_path / "b.c"], check=True)
    assert build_filter([tmp_path / "a.c", tmp_path / "b.o"], tmp_path / "x", CcOptions()) == []


def test_arithmetic_is_that_of_the_kernels(tmp_path: Path) -> None:
    """Signed overflow wraps, types may alias, products are rounded before they are added."""
    source = tmp_path / "m.c"
    source.write_text("""#include <stdio.h>
#include <limits.h>
static int wraps(int x) { return x + 1 < x; }
static float alias(int *i, float *f) { *i = 0x40000000; *f = 1.0f; *i = 0x40000000; return *f; }
int main(int argc, char **argv) {
  int i; (void)argv; printf("%d %g\\n", wraps(INT_MAX - 1 + argc), alias(&i, (float *)&i)); return 0; }
""")
    build_filter([source], tmp_path / "x", CcOptions())
    assert run(str(tmp_path / "x"), b"") == b"1 2\n"
    assert "-ffp-contract=off" in toolchain.FILTER_FLAGS


def test_errors_and_warnings_have_the_users_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("-m.c").write_text("int main(void) {\n  int n = 1 << 40;\n  return m;\n}\n")
    with pytest.raises(UserError) as error:
        build_filter(["-m.c"], "x", CcOptions())
    (diagnostic,) = error.value.diagnostics
    assert (diagnostic.code, diagnostic.span.file, diagnostic.span.line) == ("HD300", "-m.c", 3)
    assert diagnostic.text.startswith("-m.c:3:") and "return m" in diagnostic.text
    Path("-m.c").write_text("int main(void) {\n  return 1 << 40;\n}\n")
    (warning,) = build_filter(["-m.c"], "x", CcOptions())
    assert (warning.severity, str(warning.span)[:6]) == ("warning", "-m.c:2")


@pytest.mark.parametrize(
    ("body", "options", "words"),
    [("int f(void); int main(void) { return f(); }", CcOptions(), "undefined reference to `f'"),
     ("int main(void) { return 0; }", CcOptions(libraries=("no_such_lib",)), "cannot find -lno_such_lib")],
)
def test_link_errors(body: str, options: CcOptions, words: str, tmp_path: Path) -> None:
    (tmp_path / "m.c").write_text(body)
    with pytest.raises(UserError) as error:
        build_filter([tmp_path / "m.c"], tmp_path / "x", options)
    (diagnostic,) = error.value.diagnostics
    assert diagnostic.code == "HD301" and words in diagnostic.message and words in diagnostic.text
    assert {"HD300", "HD301", "HD502", "HD503"} <= set(CODES)


def test_messages_in_headers_and_with_prefaces() -> None:
    text = """In file included from m.c:1:
./a b.h:3:5: warning: odd [-Wodd]
    3 | int x
      |     ^
m.c: In function 'main':
m.c:7:2: fatal error: bad: worse
    7 | bad
compilation terminated.
cc1: error: unrecognized thing
"""
    found = read_messages(text, {"m.c": "m.c"})
    assert [(d.severity, str(d.span), d.message) for d in found] == [
        ("warning", "./a b.h:3:5", "odd [-Wodd]"), ("error", "m.c:7:2", "bad: worse"),
        ("error", "None", "unrecognized thing"),
    ]
    assert found[0].text.endswith("^") and found[1].text == "m.c:7:2: fatal error: bad: worse\n    7 | bad"


@pytest.mark.skipif(shutil.which("clang") is None, reason="no clang here")
def test_clang_builds_filters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "clang")
    (tmp_path / "m.c").write_text(ECHO)
    build_filter([tmp_path / "m.c"], tmp_path / "x", CcOptions())
    assert run(str(tmp_path / "x"), b"q") == b"q"
