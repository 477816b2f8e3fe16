"""The test run itself: two runs at once and their end, which worker gets what, what is kept, how to see a failure alone."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from . import alone, kept, scheduling, whole
from .support import ROOT, gone


def python(text: str) -> list[str]:
    return [sys.executable, "-c", text]


def test_one_command_alone(capfd: pytest.CaptureFixture[str]) -> None:
    assert whole.together(python("print('said'); exit(3)")) == 3 and capfd.readouterr().out.count("said") == 1


@pytest.mark.parametrize(("beside", "here", "status"), [(0, 0, 0), (0, 1, 1), (1, 0, 1), (5, 0, 5), (0, 5, 5), (2, 3, 3)])
def test_any_failure_is_one_of_the_whole(beside: int, here: int, status: int, capfd: pytest.CaptureFixture[str]) -> None:
    assert whole.together(python(f"exit({here})"), python(f"print('said'); exit({beside})")) == status
    assert f"exit({beside})" in (said := capfd.readouterr().out) and said.count("said") == 2  # the command, and what it says


def test_a_command_that_dies_is_a_failure() -> None:
    assert whole.together(python(""), python("import os; os.kill(os.getpid(), 9)")) == signal.SIGKILL


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupt_ends_both_and_reaches_each_once(number: int, tmp_path: Path) -> None:
    """A run that is interrupted has time for its fixtures; its own processes hear of it too, as from a terminal."""
    waits = f"""
import os, pathlib, signal, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], stderr=subprocess.DEVNULL)
mark = pathlib.Path({str(tmp_path)!r}, str(os.getpid()))
try:
    mark.with_suffix(".begun").write_text(str(child.pid))
    time.sleep(600)
except KeyboardInterrupt:
    time.sleep(0.1)
    mark.with_suffix(".ended").touch()
    sys.exit(2)
"""
    main = (
        "from tests import whole\n"
        f"both = whole.together\nwhole.together = lambda *_: both({python(waits)!r}, {python(waits)!r})\nwhole.main()"
    )
    with subprocess.Popen([*python(main), "--long", "library"], cwd=ROOT, stdout=subprocess.DEVNULL) as process:
        end = time.monotonic() + 30
        while len(begun := [path for path in tmp_path.glob("*.begun") if path.read_text()]) < 2:
            assert time.monotonic() < end and process.poll() is None
            time.sleep(0.01)
        process.send_signal(number)
        assert process.wait(30) == 128 + number
    assert len(list(tmp_path.glob("*.ended"))) == 2
    assert all(gone(int(path.read_text())) and gone(int(path.stem)) for path in begun)


def test_tests_of_one_hadoop_are_one_worker_s_and_the_first() -> None:
    ids = ["tests/native/test_a.py::test_x", "tests/hadoop/test_b.py::test_x", "tests/hadoop/cluster/test_c.py::test_x[1]",
           "tests/hadoop/cluster/test_d.py::test_x", "tests/test_readme.py::test_x"]
    assert [scheduling.scope(nodeid) for nodeid in ids[1:4]] == ["tests/hadoop/test_b.py", *["tests/hadoop/cluster/"] * 2]
    assert sorted(ids, key=scheduling.rank) == [*ids[2:], *ids[:2]]
    own = {scheduling.scope(f"{place}::test_x") for place in scheduling.OWN_HADOOP}
    assert len(own) == 1 and not own & {scheduling.scope(nodeid) for nodeid in ids}
    assert all((ROOT / place).is_file() for place in scheduling.OWN_HADOOP)


def test_every_place_that_is_named_exists() -> None:
    for place in (*scheduling.FIRST, *scheduling.SANITIZED, *scheduling.LONG):
        file, _, test = place.partition("::")
        assert (ROOT / file).is_dir() if file.endswith("/") else (ROOT / file).is_file()
        assert f"def {test}" in (ROOT / file).read_text() if test else True


def test_the_tests_of_the_makefile_s_lists_exist() -> None:
    lists = re.findall(r"^(?:CHECKED|PORTABLE) := ((?:.*\\\n)*.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    places = [word for text in lists for word in text.split() if word != "\\"]
    assert len(lists) == 2 and len(places) > 20
    assert not [place for place in places if not (ROOT / place).exists()]


def test_a_test_is_of_one_of_the_two_runs() -> None:
    ids = ["tests/native/test_a.py::test_1", "tests/soak/test_b.py::test_1", "tests/compiler/test_kernels.py::test_options",
           "tests/compiler/test_kernels.py::test_nvcc_takes_it[x]", "tests/test_packaging.py::test_1"]
    items: list[pytest.Item] = [SimpleNamespace(nodeid=nodeid) for nodeid in ids]  # type: ignore[misc]
    usual, rest = scheduling.shared_out(items, long=False)
    assert usual == [items[0], items[2]] and (rest, usual) == scheduling.shared_out(items, long=True)


def test_what_cannot_run_sanitized_says_why() -> None:
    mark = pytest.mark.unsanitized(reason="why").mark
    items: list[pytest.Item] = [SimpleNamespace(get_closest_marker=lambda name, on=on: on) for on in (None, mark)]  # type: ignore[misc]
    assert [scheduling.unsanitized(item) for item in items] == ["", "why"]


def test_a_program_is_built_once_as_long_as_nothing_of_it_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "FOLDER", tmp_path / "kept")
    headers = tmp_path / "headers"
    headers.mkdir()
    (headers / "a.h").write_text("#define ANSWER 42\n")
    compiler = tmp_path / "compiler"
    compiler.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/runs\nexec cat - "$1" > "$3"\n')
    compiler.chmod(0o755)
    source = tmp_path / "x.c"
    found = []
    for text, extra, header in (("1", "a", "42"), ("1", "a", "42"), ("2", "a", "42"), ("2", "b", "42"), ("2", "b", "43")):
        source.write_text(text)
        (headers / "a.h").write_text(f"#define ANSWER {header}\n")
        found.append(kept.program([compiler, source], text=extra, folders=[headers]))
        assert found[-1].read_text() == extra + text
    assert len((tmp_path / "runs").read_text().splitlines()) == 4 == len(set(found)) and found[0] == found[1]


def test_the_runtime_of_an_installation_is_compiled_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In whatever folder it lies; another text beside it, or another option, is another object. No optimisation."""
    monkeypatch.setattr(kept, "FOLDER", tmp_path / "kept")
    (compiler,) = shlex.split(kept.quick_compiler())
    gcc = tmp_path / "bin" / "g++"
    gcc.parent.mkdir()
    gcc.write_text(
        f'#!/bin/sh\n[ "$1" != --version ] || exit 0\necho "$@" >> {tmp_path}/runs\nwhile [ "$1" != -o ]; do shift; done\n'
        'cat runtime/host/sub/a.cpp > "$2"\n')
    gcc.chmod(0o755)
    environ = {**os.environ, "PATH": f"{gcc.parent}:{os.environ['PATH']}"}

    def runs_after(place: str, header: str, *options: str) -> int:
        folder = tmp_path / place / "runtime" / "host" / "sub"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "a.cpp").write_text("text")
        (folder.parent / "a.h").write_text(header)
        own = tmp_path / place
        words = [*options, f"-I{folder.parent}", "-I", own, "-c", folder / "a.cpp", "-o", own / "a.o"]
        subprocess.run([compiler, *words], check=True, env=environ, cwd=tmp_path / place)
        assert (tmp_path / place / "a.o").read_text() == "text"
        return len((tmp_path / "runs").read_text().splitlines())

    assert runs_after("one", "1") == runs_after("two", "1") == 1
    assert (runs_after("two", "2"), runs_after("one", "2", "-g")) == (2, 3)
    (tmp_path / "one" / "more.cpp").write_text("")
    subprocess.run([compiler, "more.cpp", "-o", "more"], check=True, env=environ, cwd=tmp_path / "one")
    assert all(line.endswith("-O0") for line in (tmp_path / "runs").read_text().splitlines())


def test_what_nobody_used_for_long_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "FOLDER", tmp_path)
    stores = [tmp_path / f"{kept.BUNDLES}{number}" for number in range(6)]
    for number, store in enumerate(stores):
        (store / "x.hdp").mkdir(parents=True)
        os.utime(store, (number, number))
    old, new = tmp_path / "cache" / "emulated" / "old.so", tmp_path / "programs" / "new"
    for path in (old, new):
        path.parent.mkdir(parents=True)
        path.touch()
    os.utime(old, (1, 1))
    kept.sweep()
    assert [store.exists() for store in stores] == [False] * 3 + [True] * 3
    assert new.exists() and not old.exists()


def test_another_compiler_has_other_bundles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = kept._compiler_key.__wrapped__
    before = key()
    with monkeypatch.context() as other:
        other.setenv("CFLAGS", "-g")
        assert key() != before
    assert key() == before
    for place, counts in (("heterodoop/compiler/x.py", True), ("heterodoop/x.py", True), ("runtime/device/a.cuh", True),
                          ("templates/x.j2", True), ("heterodoop/engine/x.py", False), ("runtime/host/x.cpp", False)):
        for folder in ("heterodoop/compiler", "heterodoop/engine", "templates", "runtime/host", "runtime/device"):
            (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        monkeypatch.setattr(kept, "ROOT", tmp_path)
        before = key()
        (tmp_path / place).write_text("x")
        assert (key() != before) is counts, place


def test_a_failure_says_what_to_type(tmp_path: Path) -> None:
    test = tmp_path / "test_it.py"
    test.write_text(
        "import pytest\n@pytest.mark.parametrize('x', ['a b'])\ndef test_it(x): assert not x\ndef test_more(): pass\n")
    argv = [sys.executable, "-m", "pytest", "-p", "tests.alone", "-p", "no:cacheprovider", "-c", os.devnull, str(test)]
    environ = {**os.environ, "HETERODOOP_X": "x y"}
    done = subprocess.run(argv, cwd=ROOT, env=environ, capture_output=True, text=True)
    assert done.returncode == 1 and done.stdout.count(alone.HEADER) == 1
    *settings, interpreter, m, pytest_, nodeid = shlex.split(done.stdout.partition(alone.HEADER)[2].splitlines()[1])
    assert settings[-1] == "HETERODOOP_X=x y" and (ROOT / interpreter).samefile(sys.executable)
    assert (m, pytest_) == ("-m", "pytest") and nodeid.endswith("test_it.py::test_it[a b]")


def test_a_failure_on_the_sanitizer_build_names_it() -> None:
    environ = {"HETERODOOP_SANITIZED": "1", "HETERODOOP_NATIVE": str(ROOT / ".venv" / "sanitized" / "lib.so")}
    found = shlex.split(alone.command("tests/native/test_a.py::test_1[x y]", environ, {}))
    assert found[1:] == ["-m", "tests.sanitized", ".venv/sanitized/lib.so", "tests/native/test_a.py::test_1[x y]"]
