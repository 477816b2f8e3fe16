"""The command line from outside: what it answers at once, what it refuses, with which status and which words."""

from __future__ import annotations

import errno
import json
import os
import resource
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from heterodoop import __version__, explain, hdcodes
from heterodoop.compiler import compile as compiling
from heterodoop.errors import EXIT_BUG, EXIT_ENVIRONMENT, EXIT_LIMITATION, EXIT_PROGRAM, EXIT_USAGE
from heterodoop.scheduler.policies import POLICIES

from .support import COMMAND, Done, cli_here, cli_process, environment, parts, write_app

MAP = """#include <stdio.h>
#include <stdlib.h>
int main(void) {
  char k[32], *line = NULL; size_t cap = 0; ssize_t n; int v;
  #pragma mapreduce mapper key(k) value(v) keylength(32) vallength(1)
  while ((n = getline(&line, &cap, stdin)) != -1) {
    v = (int)n; sprintf(k, "n%d", v);
    printf("%s\\t%d\\n", k, v);
  }
  return 0;
}
"""

CAT = "#include <stdio.h>\nint main(void) { int c; while ((c = getchar()) != EOF) putchar(c); return 0; }\n"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder with an app, a bundle of another version, and an input in it."""
    monkeypatch.chdir(tmp_path)
    write_app(tmp_path / "app", {"map": MAP})
    write_app(tmp_path / "broken", {"map": MAP.replace("v = (int)n;", "v = (int)m;")})
    (tmp_path / "empty").mkdir()
    (tmp_path / "old.hdp").mkdir()
    (tmp_path / "old.hdp/manifest.json").write_text('{"version": 0}')
    (tmp_path / "in").write_bytes(b"a\nabc\n")
    return tmp_path


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("compiled")
    cli_here("compile", write_app(folder / "app", {"map": MAP}), "-o", folder / "app.hdp")
    return folder / "app.hdp"


# Help


@pytest.mark.parametrize("words", ["--help", "-h", "--version", "compile --help", "run -h", "explain -h"])
def test_help_answers_at_once(words: str) -> None:
    """By what its process works, whatever else the machine does."""

    def worked() -> float:
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    times = []
    for _ in range(3):
        begun = worked()
        done = cli_process(*words.split())
        times.append(worked() - begun)
        assert (done.status, done.err) == (0, b"")
    assert 0 < min(times) < 1, f"the aim is 0.25 s on an idle machine: {times}"


def test_help_names_commands_options_and_exit_codes() -> None:
    text = cli_here("--help").out.decode()
    for word in ("compile", "run", "explain", "70", "130", "--debug"):
        assert word in text
    assert "keylength" not in text
    run = cli_here("run", "--help").out.decode()
    for option in ("--reducers", "--split-size", "--cpu-slots", "--max-attempts", "--record-delimiter", "--file", "--quiet",
                   "--json", "-D", "-o"):
        assert option in run
    assert __version__ in cli_here("--version").out.decode()


LIST_IMPORTS = """
import sys
from heterodoop.cli import main
sys.argv = ["heterodoop", "--help"]
try:
    main()
except SystemExit:
    print([m for m in sorted(sys.modules) if m.startswith(("heterodoop.", "pycparser", "rich", "ctypes"))], file=sys.stderr)
"""


@pytest.mark.parametrize("command", ["run", "submit", "simulate"])
def test_help_names_every_policy(command: str) -> None:
    """The help is written down: it is read without the scheduler."""
    said = "".join(cli_here(command, "--help").out.decode().split())
    assert all(name in said for name in POLICIES)


def test_help_imports_no_compiler_and_no_engine() -> None:
    done = subprocess.run([COMMAND[0], "-c", LIST_IMPORTS], capture_output=True, text=True, check=True, env=environment())
    loaded = [name for name in eval(done.stderr) if not name.startswith("heterodoop.cli.")]
    assert loaded == ["heterodoop.cli", "heterodoop.errors"]


# Usage errors. One line each: arguments, status, what stderr must hold.

USAGE = [
    (["nonsense"], EXIT_USAGE, "No such command 'nonsense'"),
    (["--nonsense"], EXIT_USAGE, "No such option"),
    (["compile"], EXIT_USAGE, "SOURCE"),
    (["run"], EXIT_USAGE, "BUNDLE"),
    (["run", "app"], EXIT_USAGE, "INPUTS"),
    (["run", "app", "in"], EXIT_USAGE, "--output"),
    (["explain"], EXIT_USAGE, "WHAT"),
    (["explain", "HD999"], EXIT_USAGE, "error[HD002]: there is no HD999"),
    (["explain", "absent"], EXIT_USAGE, "error[HD001]: absent"),
    (["explain", "empty"], EXIT_USAGE, "error[HD001]: empty holds no map.c"),
    (["explain", "old.hdp"], EXIT_USAGE, "error[HD311]"),
    (["compile", "absent"], EXIT_USAGE, "error[HD001]: absent: no such file"),
    (["compile", "empty"], EXIT_USAGE, "error[HD001]: empty holds no map.c"),
    (["compile", "app", "absent.c"], EXIT_USAGE, "error[HD001]: absent.c"),
    (["compile", "app", "empty"], EXIT_USAGE, "error[HD001]: empty is a folder"),
    (["compile", "app", "--combine", "absent.c"], EXIT_USAGE, "error[HD001]: absent.c"),
    (["compile", "app", "--reduce", "empty"], EXIT_USAGE, "error[HD001]: empty is a folder"),
    (["compile", "app", "--emit=nonsense"], EXIT_USAGE, "error[HD004]: there is no stage 'nonsense'"),
    (["compile", "app", "-o", "in"], EXIT_USAGE, "error[HD003]: in exists"),
    (["compile", "app", "-o", "empty"], EXIT_USAGE, "error[HD003]: empty exists"),
    (["compile", "app", "-o", "in/x.hdp"], EXIT_USAGE, "error[HD003]: cannot write the bundle in/x.hdp"),
    (["compile", "app", "-o", "n" * 300], EXIT_USAGE, "error[HD003]: "),
    (["compile", "broken"], EXIT_PROGRAM, "broken/map.c:7:"),
    (["compile", "app", "-std=c1"], EXIT_PROGRAM, "-std=c1"),
    (["compile", "app", "-l", "nosuchlibrary"], EXIT_PROGRAM, "nosuchlibrary"),
    (["run", "broken", "in", "-o", "out"], EXIT_PROGRAM, "broken/map.c:7:"),
    (["run", "absent", "in", "-o", "out"], EXIT_USAGE, "error[HD312]: "),
    (["run", "empty", "in", "-o", "out"], EXIT_USAGE, "error[HD312]: "),
    (["run", "old.hdp", "in", "-o", "out"], EXIT_USAGE, "error[HD311]: "),
    (["run", "app", "absent", "-o", "out"], EXIT_USAGE, "error[HD010]: cannot read the input 'absent'"),
    (["run", "app", "*.none", "-o", "out"], EXIT_USAGE, "error[HD012]: "),
    (["run", "app", "s3a://h/x", "-o", "out"], EXIT_LIMITATION, "error[HD013]: "),
    (["run", "app", "in", "-o", "empty"], EXIT_USAGE, "error[HD020]: "),
    (["run", "app", "in", "-o", "in/out"], EXIT_USAGE, "error[HD021]: "),
    (["run", "app", "in", "-o", "out", "-D", "x"], EXIT_USAGE, "error[HD030]: "),
    (["run", "app", "in", "-o", "out", "-inputformat", "my.Format"], EXIT_USAGE, "error[HD031]: "),
    (["run", "app", "in", "-o", "out", "--split-size=0"], EXIT_USAGE, "error[HD032]: --split-size"),
    (["run", "app", "in", "-o", "out", "--cpu-slots=x"], EXIT_USAGE, "error[HD032]: --cpu-slots"),
    (["run", "app", "in", "-o", "out", "--max-attempts=0"], EXIT_USAGE, "error[HD032]: --max-attempts"),
    (["run", "app", "in", "-o", "out", "--record-delimiter="], EXIT_USAGE, "error[HD032]: --record-delimiter"),
    (["run", "app", "in", "-o", "out", r"--record-delimiter=\q"], EXIT_USAGE, "error[HD032]: --record-delimiter"),
    (["run", "app", "in", "-o", "out", "--file=absent"], EXIT_USAGE, "error[HD033]: "),
]


@pytest.mark.parametrize(("arguments", "status", "words"), USAGE, ids=[" ".join(row[0])[:60] for row in USAGE])
def test_what_cannot_be_is_refused(arguments: list[str], status: int, words: str, here: Path) -> None:
    before = tree(here)
    done = cli_here(*arguments, status=status)
    assert words in done.message and done.out == b""
    assert "Traceback" not in done.message
    assert tree(here) == before, "nothing is made or changed"


def tree(folder: Path) -> dict[str, bytes | None]:
    return {str(path): path.read_bytes() if path.is_file() else None for path in sorted(folder.rglob("*"))}


def test_debug_shows_the_traceback_of_an_error() -> None:
    assert "Traceback" not in cli_here("explain", "HD999", status=2).message
    debugged = cli_here("--debug", "explain", "HD999", status=2).message
    assert "Traceback" in debugged and "error[HD002]" in debugged


def test_an_error_that_nobody_expected_is_an_internal_one(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("surprise")

    monkeypatch.setattr(compiling, "compile_to_bundle", broken)
    done = cli_here("compile", "app", status=EXIT_BUG)
    assert "heterodoop: internal error: RuntimeError: surprise" in done.message and "Traceback" in done.message
    assert "report" in done.message


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(errno.EMFILE, "", "some/file"), "'some/file': Too many open files"),
        (OSError(errno.EAGAIN, ""), "Resource temporarily unavailable"),
        (MemoryError(), "no memory left"),
        (RuntimeError("can't start new thread"), "no further thread"),
    ],
)
def test_what_the_machine_refuses_is_no_fault_of_ours(
    here: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, words: str,
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(compiling, "compile_to_bundle", broken)
    done = cli_here("compile", "app", status=EXIT_ENVIRONMENT)
    assert words in done.message and "heterodoop: error: " in done.message and "Traceback" not in done.message


def test_names_that_are_no_utf8_can_be_told(here: Path) -> None:
    name = os.fsdecode(b"caf\xe9")
    done = cli_here("compile", name, status=2)
    assert rb"caf\xe9: no such file" in done.err
    (here / "names").mkdir()
    write_app(here / "names" / name, {"map": MAP.replace("v = (int)n;", "v = (int)m;")})
    assert rb"caf\xe9/map.c:7:" in cli_here("compile", f"names/{name}", status=3).err


# compile


def test_compile_says_what_was_made(here: Path) -> None:
    done = cli_here("compile", "app")
    assert done.out == b"" and "app.hdp" in done.message and "map" in done.message
    assert sorted(path.name for path in (here / "app.hdp").iterdir()) == ["bin", "build.key", "cuda", "manifest.json", "src"]
    assert (here / "app.hdp/src/map.c").read_text() == MAP and os.access(here / "app.hdp/bin/map", os.X_OK)


def test_compile_replaces_a_bundle_and_leaves_nothing_beside(here: Path) -> None:
    for text in (MAP, MAP.replace("n%d", "m%d")):
        write_app(here / "app", {"map": text})
        cli_here("compile", "app")
        assert (here / "app.hdp/src/map.c").read_text() == text
    cli_here("compile", "broken", "-o", "app.hdp", status=3)
    assert (here / "app.hdp/src/map.c").read_text() == MAP.replace("n%d", "m%d"), "a failed build leaves the old one"
    assert sorted(path.name for path in here.iterdir()) == ["app", "app.hdp", "broken", "empty", "in", "old.hdp"]


def test_compiling_twice_gives_the_same_manifest(here: Path) -> None:
    for name in ("1.hdp", "2.hdp"):
        cli_here("compile", "app", "-o", name)
    assert (here / "1.hdp/manifest.json").read_bytes() == (here / "2.hdp/manifest.json").read_bytes()


def test_the_time_of_every_step(here: Path) -> None:
    done = cli_here("compile", "app", "--emit=ir", "--time-passes")
    said = done.err.decode()
    assert b"ms" not in done.out and "// app/map.c" in said
    assert all(f" ms  {step}\n" in said for step in ("load", "lower", "prune", "points_to", "flow", "decisions", "in all"))
    for _ in range(2):  # a bundle that is there already is made anew
        said = cli_here("compile", "app", "--arch=none", "--time-passes").err.decode()
        assert " ms  text\n" in said and "in all" in said


def test_programs_given_one_by_one_and_more_c_files(here: Path) -> None:
    (here / "twice.c").write_text("int twice(int x) { return 2 * x; }\n")
    (here / "m.c").write_text(MAP.replace("int main", "int twice(int);\nint main").replace("(int)n;", "twice((int)n);"))
    (here / "cat.c").write_text(CAT)
    cli_here("compile", "m.c", "twice.c", "--combine=cat.c", "--reduce", "cat.c", "-o", "all.hdp")
    assert sorted(path.name for path in (here / "all.hdp/bin").iterdir()) == ["combine", "map", "reduce"]
    cli_here("run", "all.hdp", "in", "-o", "out", "--quiet")
    assert parts(here / "out") == [b"n4\t4\nn8\t8\n"]


@pytest.mark.parametrize("stage", ["directives", "ir", "uses", "manifest", "record_loop", "points_to"])
def test_every_stage_prints_and_makes_no_bundle(stage: str, here: Path) -> None:
    done = cli_here("compile", "app", f"--emit={stage}")
    assert done.out and not (here / "app.hdp").exists()
    assert stage in cli_here("compile", "app", "--emit=help").out.decode()
    if stage == "manifest":
        assert json.loads(done.out)["programs"][0]["role"] == "map"


def test_verify_checks_the_passes(here: Path) -> None:
    cli_here("compile", "app", "--verify", "-o", "checked.hdp")
    assert (here / "checked.hdp/manifest.json").exists()


# explain


@pytest.mark.parametrize("code", sorted(hdcodes.CODES))
def test_every_code_is_explained(code: str) -> None:
    text = explain.explain_code(code)
    entry = hdcodes.CODES[code]
    assert text.startswith(f"{code}: {entry.title}\n") and "What to do: " in text
    assert len(entry.title) < 80 and not entry.title.endswith(".") and entry.text.endswith(".") and entry.fix


def test_codes_in_any_case_and_those_that_do_not_exist(here: Path) -> None:
    (here / "HD104").mkdir()
    assert cli_here("explain", "hd104").out == cli_here("explain", "HD104").out
    assert cli_here("explain", "./HD104", status=2).out == b"", "a folder with a path is a folder"
    for absent in ("HD000", "HD998", "hd12x"):
        assert cli_here("explain", absent, status=2).out == b""


def test_a_bundle_explains_itself_as_its_app_does(bundle: Path) -> None:
    app = bundle.with_name("app")
    of_bundle, of_app = (json.loads(cli_here("explain", what, "--json").out) for what in (bundle, app))
    assert of_bundle["programs"] == of_app["programs"]
    assert cli_here("explain", bundle).out == cli_here("explain", app).out


# run


def test_run_says_where_the_result_is_unless_it_is_quiet(bundle: Path, here: Path) -> None:
    loud = cli_here("run", bundle, "in", "-o", "loud")
    assert loud.out == b"" and "loud" in loud.message and "loud.report" in loud.message
    quiet = cli_here("run", bundle, "in", "-o", "quiet", "--quiet")
    assert (quiet.out, quiet.err) == (b"", b"")
    assert parts(here / "loud") == parts(here / "quiet") == [b"n2\t2\nn4\t4\n"]


def test_run_json_is_the_report(bundle: Path, here: Path) -> None:
    report = json.loads(cli_here("run", bundle, "in", "-o", "out", "--json", "-r2").out)
    assert report["state"] == "succeeded"
    assert report == json.loads((here / "out.report/report.json").read_text())
    assert report["tasks"]["map"]["done"] == 1 and report["tasks"]["reduce"]["done"] == 2
    assert report["counters"]["MAP_INPUT_RECORDS"] == 2


def test_run_compiles_an_app_and_leaves_no_bundle(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number, source in enumerate(("app", "app/map.c")):
        cli_here("run", source, "in", "-o", f"out{number}", "--quiet")
        assert parts(here / f"out{number}") == [b"n2\t2\nn4\t4\n"]
    assert not list(here.rglob("*.hdp/bin"))


def test_a_job_that_fails_has_status_1_and_a_report(here: Path) -> None:
    write_app(here / "failing", {"map": "#include <stdio.h>\nint main(void) { fputs(\"no luck\\n\", stderr); return 7; }\n"})
    done = cli_here("run", "failing", "in", "-o", "out", "--quiet", "--max-attempts=2", status=1)
    assert "error[HD401]" in done.message and "exit status 7" in done.message and "no luck" in done.message
    assert not (here / "out").exists()
    assert json.loads((here / "out.report/report.json").read_text())["state"] == "failed"
    again = cli_here("run", "failing", "in", "-o", "out", "--quiet", "-D", "stream.non.zero.exit.is.failure=false")
    assert again.status == 0 and (here / "out/_SUCCESS").exists(), "the report of the failed job is replaced"


def test_warnings_are_shown_after_the_job(bundle: Path, here: Path) -> None:
    done = cli_here("run", bundle, "empty", "-o", "out", "--quiet", "-D", "mapreduce.job.reduces=3", "-r1")
    assert "warning[HD015]" in done.message and "warning[HD034]" in done.message


def test_without_the_native_runtime_run_says_what_to_do(bundle: Path, here: Path) -> None:
    done = cli_process("run", bundle, "in", "-o", "out", env={"HETERODOOP_NATIVE": str(here / "absent.so")}, cwd=here)
    assert done.status == EXIT_ENVIRONMENT and "error[HD51" in done.message and "Traceback" not in done.message
    assert not (here / "out").exists()


# Signals, where the engine does not run


@pytest.fixture
def slow_compiler(here: Path) -> Iterator[Path]:
    """A C compiler that never ends, and says that it has begun."""
    script = here / "slowcc"
    script.write_text('#!/bin/sh\ncase "$*" in *--version*) echo slow; exit;; esac\ntouch begun\nsleep 600\n')
    script.chmod(0o755)
    yield script


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_while_compiling(number: signal.Signals, slow_compiler: Path, here: Path) -> None:
    before = {*tree(here), str(here / "begun")}
    process = subprocess.Popen([*COMMAND, "compile", "app"], env=environment({"CC": str(slow_compiler)}),
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    end = time.monotonic() + 20
    while not (here / "begun").exists():
        assert time.monotonic() < end
        time.sleep(0.01)
    process.send_signal(number)
    out, err = process.communicate(timeout=5)
    done = Done(process.returncode, out, err)
    assert done.status == 130 and "Traceback" not in done.message
    assert set(tree(here)) == before


def test_nohup_keeps_a_build_alive(here: Path) -> None:
    process = subprocess.Popen(["nohup", *COMMAND, "compile", "app"], env=environment(), stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, start_new_session=True)
    for _ in range(20):
        time.sleep(0.05)
        if process.poll() is None:
            process.send_signal(signal.SIGHUP)
    process.communicate(timeout=30)
    assert process.returncode == 0 and (here / "app.hdp/manifest.json").exists()


INTERRUPTED_IMPORT = """
import sys
from heterodoop import cli

class Member:
    def __set_name__(self, owner, name):
        raise KeyboardInterrupt

def command(*arguments):
    class Made:
        member = Member()

cli.cli.make_context = command
sys.argv = ["heterodoop"]
cli.main()
"""


def test_an_interrupt_while_a_class_is_being_made_is_an_interrupt() -> None:
    done = subprocess.run([COMMAND[0], "-c", INTERRUPTED_IMPORT], capture_output=True, text=True, env=environment())
    assert (done.returncode, done.stderr) == (130, "")
