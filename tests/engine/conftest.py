"""Bundles for the engine's tests: filters in C, built once a session by the C compiler alone (no HeteroDoop compiler)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from heterodoop.engine.devices import first_check
from heterodoop.engine.devices.devices import DeviceSource
from heterodoop.engine.run.local import JobResult, run_local
from heterodoop.engine.run.plan import RunOptions
from heterodoop.executor.worker import client as worker_client
from heterodoop.executor.worker.process import WorkerProcess
from heterodoop.executor.worker.spawn import Spawned
from heterodoop.manifest import FILE, VERSION, Fold, FoldField, Input, Manifest, PairReader, Program, Region, sha256

from .. import kept
from ..support import Bundles
from .fake_device import Behaviour, install
from .worker_jobs import APP, SAMPLE, children

WORDS = r"""
#include <stdio.h>
#include <string.h>
#include <stdlib.h>
int main(void) {
  char *line = NULL, *word; size_t cap = 0;
  while (getline(&line, &cap, stdin) != -1)
    for (word = strtok(line, " \t\r\n"); word; word = strtok(NULL, " \t\r\n")) printf("%s\t1\n", word);
  return 0;
}
"""
SUM = r"""
#include <stdio.h>
#include <string.h>
#include <stdlib.h>
int main(void) {
  char *line = NULL, *tab, prev[4096] = ""; size_t cap = 0; long sum = 0; int any = 0;
  while (getline(&line, &cap, stdin) != -1) {
    if (!(tab = strchr(line, '\t'))) continue;
    *tab = 0;
    if (any && strcmp(line, prev)) { printf("%s\t%ld\n", prev, sum); sum = 0; }
    strcpy(prev, line); any = 1; sum += atol(tab + 1);
  }
  if (any) printf("%s\t%ld\n", prev, sum);
  return 0;
}
"""
SCANF_SUM = r"""
#include <stdio.h>
#include <string.h>
int main(void) {
  char word[32], prev[32] = ""; int count = 0, val;
  while (scanf("%31s %d", word, &val) == 2) {
    if (!strcmp(word, prev)) { count += val; continue; }
    if (prev[0]) printf("%s\t%d\n", prev, count);
    strcpy(prev, word); count = val;
  }
  if (prev[0]) printf("%s\t%d\n", prev, count);
  return 0;
}
"""
CAT = r"""
#include <stdio.h>
int main(void) { int c; while ((c = getchar()) != EOF) putchar(c); return 0; }
"""
ENVIRONMENT = r"""
#include <stdio.h>
extern char **environ;
int main(void) { char **e, *c; while (getchar() != EOF);
  for (e = environ; *e; e++) { for (c = *e; *c; c++) putchar(*c == '\t' || *c == '\n' ? ' ' : *c); putchar('\n'); }
  return 0; }
"""

Make = Callable[..., Path]
Run = Callable[..., JobResult]


@pytest.fixture(scope="session")
def filters() -> Callable[[str], Path]:
    """C text -> the built filter; the same text is built once."""
    return cache(lambda source: kept.program(["gcc", "-O1", "-w", "-x", "c", "-"], text=source))


@pytest.fixture
def bundle(tmp_path: Path, filters: Callable[[str], Path]) -> Make:
    """Make a bundle of C texts. `fold`: the combiner is declared a regrouping sum; `pairs`: how it reads."""
    count = iter(range(100))

    def make(
        map: str, combine: str = "", reduce: str = "", *, fold: bool = False, pairs: PairReader | None = None,
        name: str = "",
    ) -> Path:
        root = tmp_path / (name or f"app{next(count)}.hdp")
        (root / "bin").mkdir(parents=True)
        programs, binaries = [], []
        for role, source in (("map", map), ("combine", combine), ("reduce", reduce)):
            if not source:
                continue
            binary = root / "bin" / role
            binary.write_bytes(filters(source).read_bytes())
            binary.chmod(0o755)
            region = _region(fold, pairs) if role == "combine" else None
            programs.append(Program(role, f"bin/{role}", (f"src/{role}.c",), region, ()))  # type: ignore[arg-type]
            binaries.append(Input(f"bin/{role}", sha256(binary)))
        manifest = Manifest(VERSION, "test", "app", "gcc", "unknown", (), tuple(programs), (), tuple(binaries))
        (root / FILE).write_text(manifest.to_json())
        return root

    return make


def _region(fold: bool, pairs: PairReader | None) -> Region:
    folded = Fold((FoldField("sum", "int64"),), (), "key", ("sum",), regroup=True) if fold else None
    return Region("combiner", "main", "c.c:1:1", "scanf", "key", "sum", "key", "v", 1, 1, 0, 0, 0, (), (), pairs, folded)


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    """Run a job quietly; `out` is made below tmp_path. No thread of the engine may survive a test."""

    def go(bundle: Path, *inputs: str | Path, out: str = "out", **options: object) -> JobResult:
        options.setdefault("quiet", True)
        return run_local(bundle, [str(i) for i in inputs], str(tmp_path / out), RunOptions(**options),  # type: ignore[arg-type]
                         devices=DeviceSource())

    yield go


@pytest.fixture
def wordcount(bundles: Bundles) -> Path:
    return bundles.get(*((APP / f"{role}.c").read_text() for role in ("map", "combine", "reduce")))


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    (tmp_path / "in.txt").write_bytes(SAMPLE)
    return tmp_path / "in.txt"


@pytest.fixture
def device_job(wordcount: Path, sample: Path, tmp_path: Path) -> Run:
    """A job of several map tasks; after it no process of a worker may be left."""

    def go(
        *settings: str, out: str = "out", device: str = "emulated", bundle: Path = wordcount, **options: object,
    ) -> JobResult:
        chosen = RunOptions(quiet=True, device=device, settings=settings, split_size=12_000, cpu_slots=2, reducers=2,
                            **options)  # type: ignore[arg-type]
        result = run_local(bundle, [str(sample)], str(tmp_path / out), chosen, devices=DeviceSource())
        assert not children()
        return result

    return go


@pytest.fixture
def expected(device_job: Run) -> list[bytes]:
    return parts(device_job(device="cpu", out="expected").output)


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[WorkerProcess]]:
    """Every worker process that the test's job starts, in order."""
    found: list[WorkerProcess] = []

    def start(spawned: Spawned) -> WorkerProcess:
        found.append(WorkerProcess(spawned))
        return found[-1]

    monkeypatch.setattr(worker_client, "WorkerProcess", start)
    yield found


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Behaviour:
    """Jobs with device="emulated" have this device."""
    behaviour = Behaviour()
    install(monkeypatch, behaviour)
    return behaviour


@pytest.fixture
def text(tmp_path: Path) -> Path:
    """Twenty times two lines, with the words a and b."""
    (tmp_path / "in.txt").write_bytes(b"b a b\na\tb\n" * 20)
    return tmp_path / "in.txt"


@pytest.fixture
def job(run, text) -> Callable[..., JobResult]:
    """A job of four map tasks, one at a time unless `cpu_slots` says more."""

    def go(bundle: Path, check: str | None = "first", **options: object) -> JobResult:
        options = {"device": "emulated", "split_size": 60, "cpu_slots": 1, **options}
        return run(bundle, text, check=check, **options)

    return go


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> int:
    """The size of a sample here: less than the shortest split has."""
    monkeypatch.setattr(first_check, "SAMPLE_BYTES", 16)
    return 16


def parts(folder: Path) -> list[bytes]:
    """The contents of the part files, in order."""
    return [path.read_bytes() for path in sorted(folder.glob("part-*"))]


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())
