"""Field cases G and H: the command line, names and values that are not tame, interruption, and what may never run."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from ..support import COMMAND, Bundles, cli_here, cli_process, environment, parts
from .processes import Watched, start_watched
from .runner import PROGRAMS

WORDS = (PROGRAMS / "words.c").read_text()
SUM = (PROGRAMS / "sum.c").read_text()
SUM_REDUCE = (PROGRAMS / "sum_reduce.c").read_text()

# G01: optional parts are absent

WITHOUT = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {"pycuda", "hdfs", "hdfs_native", "cupy", "numpy"}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Absent())
from heterodoop.cli import main
main()
"""


def test_g01_everything_for_cpus_works_without_the_optional_parts(words_app: Path, tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"a\n")
    for arguments in (["--help"], ["--version"], ["compile", "--help"], ["run", "--help"], ["explain", "--help"],
                      ["explain", words_app], ["compile", words_app, "-o", "app.hdp"],
                      ["run", "app.hdp", "in", "-o", "out", "--quiet"]):
        done = subprocess.run([sys.executable, "-c", WITHOUT, *map(str, arguments)], cwd=tmp_path, env=environment(),
                              capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert "Traceback" not in done.stderr
    assert parts(tmp_path / "out") == [b"a\t1\n"]


# G05: the reader of our output goes away


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_g05_output_into_a_pipe_that_is_closed(unbuffered: str, bundles: Bundles, tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"a\n" * 1000)
    app = bundles.get(WORDS)
    for number, arguments in enumerate((["run", app, "in", "-o", "out", "--quiet", "--json"], ["explain", app],
                                        ["explain", app, "--json"], ["explain", "HD104"], ["--help"], ["run", "--help"])):
        read, write = os.pipe()
        os.close(read)
        env = environment({"PYTHONUNBUFFERED": unbuffered} if unbuffered else {})
        done = subprocess.run([*COMMAND, *map(str, arguments)], stdout=write, stderr=subprocess.PIPE, cwd=tmp_path,
                              env=env, check=False)
        os.close(write)
        assert (done.returncode, done.stderr) == (0, b""), arguments
        if number == 0:
            assert (tmp_path / "out/_SUCCESS").exists(), "the job was done"


def test_g05_head_gets_its_line(bundles: Bundles, tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"a\n")
    script = 'set -o pipefail; "$@" | head -1; echo "${PIPESTATUS[0]}"'
    argv = [*COMMAND, "run", str(bundles.get(WORDS)), "in", "-o", "out", "--quiet", "--json"]
    done = subprocess.run(["bash", "-c", script, "bash", *argv], cwd=tmp_path, env=environment(), capture_output=True,
                          check=True)
    assert (done.stdout, done.stderr) == (b"{\n0\n", b"")


# G06: what a build depends on

NUMBER = r"""
#include <stdio.h>
#include <stdlib.h>
#include "util.h"
int main(void) {
  char *line = NULL, k[8] = "k"; size_t cap = 0; ssize_t n; int v;
  #pragma mapreduce mapper key(k) value(v) keylength(8) vallength(1)
  while ((n = getline(&line, &cap, stdin)) != -1) {
    v = N;
    printf("%s\t%d\n", k, v);
  }
  return 0;
}
"""


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_g05_closed_standard_files(closed: str, bundles: Bundles, tmp_path: Path) -> None:
    """Their numbers must not go to part files, and nothing is a traceback."""
    (tmp_path / "in").write_bytes(b"a b\n" * 1000)
    script = f'"$@" {closed}; echo "status $?" >&9'
    argv = [*COMMAND, "run", str(bundles.get(WORDS)), str(tmp_path / "in"), "-o", str(tmp_path / "out"), "-r2", "--json"]
    shell = ["bash", "-c", f"exec 9>&1; {script}", "bash", *argv]
    done = subprocess.run(shell, capture_output=True, check=False, env=environment(), timeout=60)
    assert done.stdout.endswith(b"status 0\n") and b"Traceback" not in done.stderr
    assert b"".join(parts(tmp_path / "out")) == b"a\t1\n" * 1000 + b"b\t1\n" * 1000


def test_g05_a_full_disk_behind_stdout(bundles: Bundles, tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"a\n")
    argv = [*COMMAND, "run", str(bundles.get(WORDS)), str(tmp_path / "in"), "-o", str(tmp_path / "out"), "--json", "--quiet"]
    with open("/dev/full", "wb") as full:
        done = subprocess.run(argv, stdout=full, stderr=subprocess.PIPE, check=False, env=environment(), timeout=60)
    assert (done.returncode, done.stderr) == (5, b"heterodoop: error[HD519]: cannot write: No space left on device\n")
    assert parts(tmp_path / "out") == [b"a\t1\n"]


def test_g06_a_header_that_changed_is_seen(tmp_path: Path) -> None:
    app = tmp_path / "app"
    app.mkdir()
    (app / "map.c").write_text(NUMBER)
    (tmp_path / "in").write_bytes(b"x\n")
    for number in (1, 2):
        (app / "util.h").write_text(f"#define N {number}\n")
        os.utime(app / "util.h", (1_000_000_000, 1_000_000_000))
        cli_here("run", app, tmp_path / "in", "-o", tmp_path / f"out{number}", "--quiet")
        assert parts(tmp_path / f"out{number}") == [b"k\t%d\n" % number]
        cli_here("compile", app, "-o", tmp_path / "app.hdp")
        cli_here("run", tmp_path / "app.hdp", tmp_path / "in", "-o", tmp_path / f"again{number}", "--quiet")
        assert parts(tmp_path / f"again{number}") == [b"k\t%d\n" % number]


def test_g06_options_of_the_c_compiler_count(tmp_path: Path) -> None:
    (tmp_path / "map.c").write_text(NUMBER)
    (tmp_path / "in").write_bytes(b"x\n")
    for number in (3, 4):
        folder = tmp_path / f"include{number}"
        folder.mkdir()
        (folder / "util.h").write_text(f"#ifndef N\n#define N {number}\n#endif\n")
        for name, more, value in (("i", [], number), ("d", ["-D", f"N={number}0"], number * 10)):
            options = ["-I", folder, *more]
            cli_here("compile", tmp_path / "map.c", "-o", tmp_path / "app.hdp", *options)
            cli_here("run", tmp_path / "app.hdp", tmp_path / "in", "-o", tmp_path / f"{name}{number}", "--quiet")
            assert parts(tmp_path / f"{name}{number}") == [b"k\t%d\n" % value]


# G09: names

NAMES = ["my map.c", "(1)/m.c", "it's.c", "größe.c", "a\nb.c", "n" * 200 + ".c", 'q"uote.c', "back\\slash.c", "a,b;c&d.c",
         "[1]*?.c", "per%cent.c", "ta\tb.c", b"\xff\xfe.c".decode("utf-8", "surrogateescape")]


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_g09_any_name_works_for_source_input_and_output(name: str, tmp_path: Path) -> None:
    home = tmp_path / "home"
    source = home / name
    source.parent.mkdir(parents=True)
    source.write_text(WORDS)
    data = source.with_name(f"in {source.name[:200]}.txt")
    data.write_bytes(b"a\n")
    stem = source.name[:200]
    cli_here("compile", source, "-o", home / f"{stem}.hdp")
    cli_here("run", home / f"{stem}.hdp", data, "-o", home / f"out {stem}", "--quiet")
    assert parts(home / f"out {stem}") == [b"a\t1\n"]
    cli_here("explain", home / f"{stem}.hdp")
    cli_here("explain", home / f"{stem}.hdp", "--json")


# G10: interruption


# 130: interrupted. Otherwise all was done: the signal came too late, or after our handlers, in the interpreter's own end.
ENDED = (0, 130, -signal.SIGINT)


def wait_until(condition, seconds: float, what: str) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.01)


def end_of(watched: Watched) -> tuple[int, float, bytes]:
    begun = time.monotonic()
    _, err = watched.process.communicate(timeout=20)
    return watched.process.returncode, time.monotonic() - begun, err


def test_g10_ctrl_c_at_any_moment_leaves_nothing(words_app: Path, tmp_path: Path) -> None:
    (words_app / "combine.c").write_text(SUM)
    (words_app / "reduce.c").write_text(SUM_REDUCE)
    (tmp_path / "in").write_bytes(b"a b c d\n" * 20000)
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    before = sorted(path.name for path in tmp_path.iterdir())
    ended = []
    for seed in range(10):
        watched = start_watched(tmp_path, "run", words_app, "in", "-o", "out", "--split-size=1k", TMPDIR=str(temporary))
        wait_until(lambda: any(temporary.iterdir()), 20, "compiling does not begin")
        time.sleep(random.Random(seed).uniform(0, 2.5))
        watched.process.send_signal(signal.SIGINT)
        if seed % 3 == 0:
            watched.process.send_signal(signal.SIGINT)
        status, seconds, err = end_of(watched)
        assert status in ENDED and seconds < 5 and b"Traceback" not in err, err
        wait_until(lambda watched=watched: not watched.processes(), 2, "a child of the run is left")
        if status != 130:
            assert (tmp_path / "out/_SUCCESS").exists()
            shutil.rmtree(tmp_path / "out")
            shutil.rmtree(tmp_path / "out.report")
        assert sorted(path.name for path in tmp_path.iterdir()) == before
        assert list(temporary.iterdir()) == []
        ended.append(status)
    assert 130 in ended, "no run was interrupted"


def test_g10_ctrl_c_while_compiling_leaves_no_bundle(words_app: Path, tmp_path: Path) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    before = sorted(path.name for path in tmp_path.iterdir())
    for delay in (0.0, 0.1, 0.2, 0.4):
        watched = start_watched(tmp_path, "compile", words_app, "-o", "app.hdp", TMPDIR=str(temporary))
        wait_until(lambda watched=watched: len(watched.processes()) > 1, 20, "the C compiler does not start")
        time.sleep(delay)
        watched.process.send_signal(signal.SIGINT)
        status, seconds, err = end_of(watched)
        assert status in ENDED and seconds < 5 and b"Traceback" not in err, err
        wait_until(lambda watched=watched: not watched.processes(), 2, "a child of the build is left")
        shutil.rmtree(tmp_path / "app.hdp", ignore_errors=status != 0)  # Python's own end by SIGINT may say -2 for 130
        assert sorted(path.name for path in tmp_path.iterdir()) == before and list(temporary.iterdir()) == []


# G12: no compiler


def test_g12_without_a_compiler_one_line_says_so(words_app: Path, bundles: Bundles, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    env = {"PATH": str(tmp_path / "empty"), "CC": ""}
    (tmp_path / "in").write_bytes(b"a\n")
    for arguments in (["compile", words_app, "-o", tmp_path / "app.hdp"], ["explain", words_app],
                      ["run", words_app, tmp_path / "in", "-o", tmp_path / "out"]):
        done = cli_process(*arguments, env=env)
        assert done.status == 5 and done.message.startswith("heterodoop: error[HD502]: C compiler not found (looked for ")
        for word in ("cc", "gcc", "$CC"):
            assert word in done.message
        assert "Traceback" not in done.message and done.message.count("\n") <= 2
        assert not (tmp_path / "app.hdp").exists() and not (tmp_path / "out").exists()
    done = cli_process("run", bundles.get(WORDS), tmp_path / "in", "-o", tmp_path / "out", "--quiet", env=env)
    assert (done.status, parts(tmp_path / "out")) == (0, [b"a\t1\n"]), "a bundle runs without a compiler"


def test_g12_another_compiler_is_used_or_missed_by_its_name(words_app: Path, tmp_path: Path) -> None:
    done = cli_process("compile", words_app, "-o", tmp_path / "app.hdp", env={"CC": "no-such-compiler"})
    assert done.status == 5 and "$CC=no-such-compiler" in done.message
    for cc in ("gcc", "gcc -pipe", *(["clang"] if shutil.which("clang") else [])):
        done = cli_process("compile", words_app, "-o", tmp_path / "app.hdp", env={"CC": cc})
        assert done.status == 0, done.message


# G14: the place of an error


@pytest.mark.parametrize(("old", "new", "word"), [
    ("    off = 0; one = 1;", "    off = 0; one = 1", "expected"),
    ("    off = 0; one = 1;", "    off = 0; two = 1;", "two"),
    ('#include <string.h>', '#include "absent.h"', "absent.h"),
])
def test_g14_errors_of_the_c_compiler_name_the_users_line(old: str, new: str, word: str, words_app: Path) -> None:
    assert old in WORDS
    text = WORDS.replace(old, new)
    (words_app / "map.c").write_text(text)
    line = text[: text.index(new)].count("\n") + 1
    done = cli_here("compile", words_app, "-o", words_app.parent / "app.hdp", status=3)
    assert f"{words_app}/map.c:{line}:" in done.message and word in done.message and new.strip() in done.message
    assert "Traceback" not in done.message and not (words_app.parent / "app.hdp").exists()


def test_g14_errors_of_all_programs_together(words_app: Path) -> None:
    (words_app / "map.c").write_text(WORDS.replace("one = 1;", "one = x;"))
    (words_app / "combine.c").write_text(SUM.replace("count = val;", "count = y;"))
    (words_app / "reduce.c").write_text("int main(void) { return z; }\n")
    message = cli_here("compile", words_app, "-o", words_app.parent / "app.hdp", status=3).message
    for name, word in (("map.c", "x"), ("combine.c", "y"), ("reduce.c", "z")):
        assert f"{words_app}/{name}:" in message
        assert message.count(f"error: '{word}' undeclared") == 1, message


def test_g14_each_error_of_a_directive_is_told_once(words_app: Path) -> None:
    (words_app / "combine.c").write_text(WORDS)
    (words_app / "reduce.c").write_text(WORDS)
    message = cli_here("compile", words_app, "-o", words_app.parent / "app.hdp", status=3).message
    assert message.count("error[HD119]") == 2, message


CAT = "#include <stdio.h>\nint main(void) { int c; while ((c = getchar()) != EOF) putchar(c); return 0; }\n"

# H01, H02: names that a shell or a compiler would take for something else

EVIL = ["x;touch PWNED;.c", "$(touch PWNED).c", "`touch PWNED`", "a|touch PWNED", "x.c -o PWNED", "x'; touch PWNED; '"]


@pytest.mark.parametrize("name", EVIL)
def test_h01_no_name_is_run_by_a_shell(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    temporary, include, folder = (Path(f"{kind}{name}") for kind in ("tmp", "include", "folder"))
    for made in (temporary, include, folder):
        made.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary.resolve()))
    monkeypatch.setattr(tempfile, "tempdir", None)
    (include / "util.h").write_text("#define N 7\n")
    Path(name).write_text(NUMBER)
    (folder / name).write_bytes(b"x\n")
    cli_here("compile", name, "-I", include, "-D", f"IGNORED={name}", "-o", f"{name}.hdp")
    cli_here("run", f"{name}.hdp", folder / name, folder, "-o", f"{name}.out", "--quiet", "-D",
             f"mapreduce.job.name={name}", "--file", f"{folder / name}#{name}")
    assert b"".join(parts(Path(f"{name}.out"))) == b"k\t7\n" * 2
    cli_here("explain", f"{name}.hdp")
    assert not list(tmp_path.rglob("PWNED"))


@pytest.mark.parametrize("name", ["-oPWNED.c", "@args.c", "--help.c", "-.c", "-wrapper.c", "-fplugin=x.c", "-"])
def test_h02_a_name_is_no_option_and_no_list_of_options(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("args.c").write_text("-wrapper /bin/sh,-c,'touch PWNED'\n")
    Path(name).write_text(WORDS)
    Path(f"{name}.in").write_bytes(b"a\n")
    cli_here("compile", "-o", "app.hdp", "--", name)
    cli_here("run", "-o", "out", "--quiet", "--", "app.hdp", f"{name}.in")
    assert parts(Path("out")) == [b"a\t1\n"]
    Path(name).write_text(CAT)
    cli_here("compile", "-o", "all.hdp", f"--combine={name}", f"--reduce={name}", "--", name)
    assert not list(tmp_path.rglob("*PWNED*.hdp")) and not Path("PWNED").exists() and not Path("PWNED.c").exists()


# H04: values of settings

SETTINGS = {
    "a.b": "$(touch PWNED)", "c": "`id`", "d": 'x"; touch PWNED; "', "e": "a&b<c>]]>", "f": "1\n2", "g": "",
    "h": "größe %s \\n",
}
PRINT_SETTINGS = r"""
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  const char *names[] = {"a_b", "c", "d", "e", "f", "g", "h"}; size_t i; const char *c;
  for (i = 0; i < sizeof names / sizeof *names; i++) {
    printf("%s\t", names[i]);
    for (c = getenv(names[i]); c && *c; c++) printf("%02x", (unsigned char)*c);
    printf("\n");
  }
  return 0;
}
"""


def test_h04_settings_arrive_as_they_are(bundles: Bundles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("in").write_bytes(b"x\n")
    options = [word for key, value in SETTINGS.items() for word in ("-D", f"{key}={value}")]
    done = cli_here("run", bundles.get(PRINT_SETTINGS), "in", "-o", "out", "--quiet", "--json", *options)
    expected = b"".join(f"{key.replace('.', '_')}\t{value.encode().hex()}\n".encode() for key, value in SETTINGS.items())
    assert parts(Path("out")) == [expected]
    assert isinstance(json.loads(done.out), dict) and not list(tmp_path.rglob("PWNED"))
