"""The worker process that `heterodoop run` starts before it has imported what a job needs: who takes it, who ends it."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from heterodoop.commands import early
from heterodoop.engine.devices import devices
from heterodoop.engine.devices.devices import DeviceSource
from heterodoop.engine.run.local import run_local
from heterodoop.engine.run.plan import RunOptions
from heterodoop.errors import UsageError
from heterodoop.executor.gpu import gpus
from heterodoop.executor.worker import client as worker_client
from heterodoop.executor.worker import spawn as worker_spawn
from heterodoop.executor.worker.spawn import Early, spawn
from heterodoop.toolchain import short_jobs

from ..conftest import parts
from ..worker_jobs import children, ran_on

OPTIONS = {"device": "auto", "policy": None, "gpus": "all"}
Spawned = list[tuple[Any, ...]]
pytestmark = pytest.mark.usefixtures("kernel_cache")


@pytest.fixture
def spawned(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Spawned:
    """What `run` would start on a machine with a GPU: (kind, sessions, number)."""
    found: Spawned = []

    def fake(*arguments: Any) -> None:
        found.append(arguments)

    monkeypatch.setattr(worker_spawn, "spawn", fake)
    monkeypatch.setattr(gpus, "NODES", (str(tmp_path),))
    return found


@pytest.mark.parametrize(("options", "number"), [
    ({}, 0), ({"device": "cuda"}, 0), ({"gpus": "0,1"}, 0), ({"gpus": "2"}, 2), ({"policy": "gpu-first"}, 0),
])
def test_a_job_that_may_use_a_gpu(spawned: Spawned, wordcount: Path, options: dict[str, str], number: int) -> None:
    with early.worker(str(wordcount), (), {**OPTIONS, **options}):
        assert spawned == [("cuda", 4, number)]


@pytest.mark.parametrize("options", [
    {"device": "cpu"}, {"device": "emulated"}, {"gpus": "none"}, {"policy": "cpu-only"}, {"gpus": "first"},
])
def test_a_job_that_uses_none(spawned: Spawned, wordcount: Path, options: dict[str, str]) -> None:
    with early.worker(str(wordcount), (), {**OPTIONS, **options}):
        assert spawned == []


def test_no_gpu_is_woken_for_a_job_that_the_cpu_has_done_before(
    spawned: Spawned, wordcount: Path, sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A job leaves what the next command needs to know; longer input, other options and a named policy are another thing."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    run = RunOptions(quiet=True, device="auto", policy="cpu-only")
    given = {**{name: getattr(run, name) for name in short_jobs.OPTIONS}, **OPTIONS}

    def woken(inputs: tuple[str, ...] = (str(sample),), **options: object) -> bool:
        spawned.clear()
        with early.worker(str(wordcount), inputs, {**given, **options}) as worker:
            assert worker and (worker.asleep == "") is bool(spawned)
        return bool(spawned)

    assert woken()
    short_jobs.remember_waking(1e6)
    assert woken(), "nobody knows how long the job takes"
    run_local(wordcount, [str(sample)], str(tmp_path / "out"), run)
    assert not woken() and woken(()) and woken((str(tmp_path),)) and woken(reducers="2") and woken(settings=("a=b",))
    assert woken(policy="gpu-first") and woken(device="cuda") and not woken(policy="tail")
    short_jobs.remember(short_jobs.name_of(wordcount, given.__getitem__), sample.stat().st_size // 2, 6e5)
    assert woken(), "twice as much input may take twice as long"


def test_the_report_says_why_no_gpu_was_woken(wordcount: Path, sample: Path, tmp_path: Path) -> None:
    options = RunOptions(quiet=True, device="auto", asleep="it is short")
    assert run_local(wordcount, [str(sample)], str(tmp_path / "out"), options).report["device"]["asleep"] == "it is short"


def test_nothing_is_started_for_what_is_no_bundle_or_without_a_gpu(
    spawned: Spawned, wordcount: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "map.c").touch()
    for name in (tmp_path / "app", tmp_path / "app" / "map.c", tmp_path / "nothing"):
        with early.worker(str(name), (), OPTIONS):
            assert spawned == []
    monkeypatch.setattr(gpus, "NODES", ())
    with early.worker(str(wordcount), (), OPTIONS):
        assert spawned == []


def test_no_process_can_be_had(spawned: Spawned, wordcount: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(*arguments: Any) -> None:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(worker_spawn, "spawn", none)
    with early.worker(str(wordcount), (), OPTIONS) as worker:
        assert worker and worker.take("cuda", 4) is None


@pytest.fixture
def job(wordcount: Path, sample: Path, tmp_path: Path) -> Callable[..., Any]:
    def go(found: Early, *settings: str, device: str = "emulated", inputs: Path = sample) -> Any:
        options = RunOptions(quiet=True, device=device, settings=("heterodoop.emulated.workers=1", *settings),
                             split_size=12_000, cpu_slots=2, reducers=2)
        return run_local(wordcount, [str(inputs)], str(tmp_path / "out"), options, devices=DeviceSource(early=found))

    return go


def test_a_job_runs_on_the_process_that_is_there(job, expected, started, monkeypatch: pytest.MonkeyPatch) -> None:
    there = spawn("emulated", 4)

    def another(*arguments: Any) -> None:
        raise AssertionError("a second process is started")

    monkeypatch.setattr(worker_client, "spawn", another)
    result = job(Early(there))
    assert parts(result.output) == expected and ran_on(result) == {"emulated": 5}
    assert [process.pid for process in started] == [there.process.pid] and not children()


@pytest.mark.parametrize(("kind", "sessions", "number"), [("emulated", 3, 1), ("cuda", 4, 1)])
def test_a_process_that_does_not_fit_ends_before_the_job(
    job, expected, started, monkeypatch: pytest.MonkeyPatch, kind: str, sessions: int, number: int,
) -> None:
    there = spawn(kind, sessions)
    seen: list[int | None] = []
    plan = devices.DeviceSource.plan

    def look(*arguments: Any) -> Any:
        seen.append(there.process.poll())
        return plan(*arguments)

    monkeypatch.setattr(devices.DeviceSource, "plan", look)
    assert parts(job(Early(there)).output) == expected
    assert seen and seen[0] is not None and len(started) == number and not children()


def test_a_job_on_the_cpu_ends_it(job, expected) -> None:
    assert parts(job(Early(spawn("cuda", 4)), device="cpu").output) == expected
    assert not children()


def test_a_job_that_is_refused_ends_it(wordcount: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`run` has said what is wrong before anything is planned."""
    monkeypatch.setattr(gpus, "NODES", (str(tmp_path),))
    with pytest.raises(UsageError), early.worker(str(wordcount), (), OPTIONS):
        end = time.monotonic() + 20
        while len(children()) != 1:  # its command line is there a moment after the process
            assert time.monotonic() < end
        raise UsageError("no", code="HD032")
    assert not children()
