"""Jobs whose map tasks run as host kernels on the CPU: the bytes of filters, and what is said of those that were left."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from heterodoop.engine.run.local import JobResult
from heterodoop.executor.kernel.host_kernel import HostCode, HostMaps, host_code
from heterodoop.executor.kernel.prologue import Prologues
from heterodoop.executor.native.runtime import MapSpec, Progress, ReduceSpec, TaskResult, TaskStatus
from heterodoop.executor.task.cpu_task import CpuJob, MapRun, Place
from heterodoop.executor.task.split import Split
from heterodoop.executor.task.streaming_env import TaskNames
from heterodoop.kernel_plan import KernelPlan
from heterodoop.manifest import Kernel, SharedVar, load
from heterodoop.storage.local import InputFile

from ...host_programs import HOST, SUM, WORDS, with_host_kernel
from ...support import cli_here
from ..conftest import parts

TEXT = b"the quick fox\nthe lazy dog jumps\n" * 40
TASKS = 6
OPTIONS: dict[str, Any] = {"split_size": len(TEXT) // TASKS + 1, "cpu_slots": 1, "reducers": 2}
Attempts = list[dict[str, Any]]


@pytest.fixture
def app(bundle, filters) -> Path:
    return with_host_kernel(bundle(WORDS, SUM, SUM, fold=True), filters(HOST))


@pytest.fixture
def job(run, tmp_path: Path) -> Callable[..., tuple[JobResult, Attempts]]:
    """The result of a job, and its map attempts."""

    def go(bundle: Path, data: bytes = TEXT, out: str = "out", **options: object) -> tuple[JobResult, Attempts]:
        (tmp_path / "in.txt").write_bytes(data)
        result = run(bundle, tmp_path / "in.txt", out=out, **OPTIONS | options)
        rows = [json.loads(line) for line in (result.report_folder / "attempts.jsonl").read_text().splitlines()]
        return result, sorted((row for row in rows if "split" in row), key=lambda row: row["split"]["start"])

    return go


def test_a_job_runs_host_kernels_and_gives_the_bytes_of_filters(app: Path, job) -> None:
    filters, attempts = job(app, out="filters", filters=True)
    assert {row["ran"] for row in attempts} == {"filters"} and filters.report["map"]["host_kernel"] is False
    result, attempts = job(app)
    assert parts(result.output) == parts(filters.output) and result.warnings == ()
    assert len(attempts) == TASKS and {row["ran"] for row in attempts} == {"host kernel"}
    assert not any("left" in row for row in attempts)
    found = result.report["map"]
    assert found["host_kernel"] is True and found["left_to_filters"] == []
    assert (found["cpu"]["tasks"], found["cpu"]["host_kernels"], found["cpu"]["left_to_filters"]) == (TASKS, TASKS, 0)
    assert result.report["counters"] == filters.report["counters"]


@pytest.mark.parametrize("options", [{"settings": ["heterodoop.host.kernels=false"]}, {"filters": True}])
def test_filters_run_where_they_are_asked_for(app: Path, job, options) -> None:
    result, attempts = job(app, **options)
    assert {row["ran"] for row in attempts} == {"filters"} and result.warnings == ()


@pytest.mark.parametrize(("combine", "folds", "reducers"), [(SUM, True, 0), (SUM, False, 2), ("", False, 2), ("", False, 0)])
def test_one_that_folds_nothing_prints_pairs(bundle, filters, job, combine: str, folds: bool, reducers: int) -> None:
    app = with_host_kernel(bundle(WORDS, combine, SUM), filters(HOST), folds=folds)
    expected, _ = job(app, out="filters", filters=True, reducers=reducers)
    result, attempts = job(app, reducers=reducers)
    assert {row["ran"] for row in attempts} == {"host kernel"} and result.warnings == ()
    assert parts(result.output) == parts(expected.output)
    assert result.report["counters"] == expected.report["counters"]


@pytest.mark.parametrize("reducers", [0, 2])
def test_one_that_folds_nothing_leaves_tasks_to_filters_too(bundle, filters, job, reducers: int) -> None:
    app = with_host_kernel(bundle(WORDS, "", SUM), filters(HOST), folds=False)
    data = TEXT[: len(TEXT) // 2] + b"poison here\n" + TEXT[len(TEXT) // 2 :]
    result, attempts = job(app, data, reducers=reducers)
    assert parts(result.output) == parts(job(app, data, out="filters", filters=True, reducers=reducers)[0].output)
    assert sum("left" in row for row in attempts) == 1 and result.report["user_counters"] == {}


def test_a_task_that_is_left_is_done_by_filters_and_nothing_of_it_counts(app: Path, job) -> None:
    data = TEXT[: len(TEXT) // 2] + b"poison here\n" + TEXT[len(TEXT) // 2 :]
    result, attempts = job(app, data)
    expected, _ = job(app, data, out="filters", filters=True)
    assert parts(result.output) == parts(expected.output)
    assert result.report["counters"] == expected.report["counters"] and result.report["user_counters"] == {}
    (row,) = (row for row in attempts if "left" in row)
    reason = "record 1: the program reads or writes behind the end of a line (source line 3)"
    assert (row["ran"], row["left"], row["outcome"]) == ("filters", reason, "succeeded") and row["stages"]["left"] > 0
    assert [(w.code, w.message) for w in result.warnings] == [
        ("HD432", f"1 of {len(attempts)} map tasks ran as filters, not as the host kernel: {reason}")]
    assert result.report["map"]["left_to_filters"] == [{"reason": reason, "tasks": 1}]
    assert not (result.report_folder / "logs").exists()


def test_one_that_fails_in_three_tasks_in_a_row_is_not_tried_any_more(app: Path, job, monkeypatch) -> None:
    monkeypatch.setenv("MODE", "killed")
    result, attempts = job(app)
    why = "the host kernel failed: signal 9 (Killed)"
    assert [row["left"] for row in attempts] == [why] * 3 + [f"not tried any more: {why}"] * 3
    assert [w.message.partition(": ")[0] for w in result.warnings] == [
        f"3 of {TASKS} map tasks ran as filters, not as the host kernel"] * 2
    assert result.report["map"]["cpu"]["left_to_filters"] == TASKS
    monkeypatch.delenv("MODE")
    assert parts(result.output) == parts(job(app, out="again")[0].output)


def test_tasks_that_succeed_between_are_no_row(app: Path, job) -> None:
    poisoned = b"".join(
        TEXT[number * 33 : number * 33 + 99] + (b"poison\n" if number % 2 else b"") for number in range(14))
    _, attempts = job(app, poisoned, split_size=100)
    assert sum("left" in row for row in attempts) > 3
    assert not any(row.get("left", "").startswith("not tried") for row in attempts)


def test_a_silent_one_is_waited_for_once(app: Path, job, monkeypatch) -> None:
    monkeypatch.setenv("MODE", "silent")
    begun = time.monotonic()
    _, attempts = job(app, settings=["mapreduce.task.timeout=700"])
    assert time.monotonic() - begun < 30
    assert "made no progress for 0.7 s" in attempts[0]["left"] and not attempts[0]["left"].startswith("not tried")
    assert all(row["left"].startswith("not tried any more: ") for row in attempts[1:])


def test_what_it_prints_on_stderr_is_the_task_s_log_and_counters(app: Path, job, monkeypatch) -> None:
    monkeypatch.setenv("MODE", "errors")
    result, _ = job(app)
    assert result.report["user_counters"] == {"group": {"lines": 80}}
    assert sum(path.read_bytes().count(b"line ") for path in (result.report_folder / "logs").iterdir()) == 80


PROLOGUE = r"""
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(void) {
  int n = 7; uint64_t head[2] = {(uint64_t)&n, sizeof n};
  if (getenv("SAYS")) puts("hello");
  return write(3, head, sizeof head) < 0 || write(3, &n, sizeof n) < 0;
}
"""


@pytest.fixture
def with_live_ins(bundle, filters) -> Path:
    made = bundle(WORDS, SUM, SUM, fold=True)
    shutil.copyfile(filters(PROLOGUE), made / "bin" / "map.prologue")
    (made / "bin" / "map.prologue").chmod(0o755)
    shared = [asdict(SharedVar("n", "scalar", 0, 4))]
    return with_host_kernel(made, filters(HOST), prologue="bin/map.prologue", shared=shared, shared_bytes=8)


def test_every_task_gets_what_the_code_before_the_region_made(with_live_ins: Path, job, monkeypatch) -> None:
    monkeypatch.setenv("MODE", "live-ins")
    result, attempts = job(with_live_ins)
    numbers = [8, 0, 0]
    data = b"".join(number.to_bytes(8, "little") for number in numbers) + b"\7" + bytes(7)
    assert {row["ran"] for row in attempts} == {"host kernel"}
    assert b"live-ins:%s\t%d\n" % (data.hex().encode(), TASKS) in b"".join(parts(result.output))


def test_code_before_the_region_that_cannot_run_alone_leaves_tasks_to_filters(with_live_ins: Path, job, monkeypatch) -> None:
    monkeypatch.setenv("SAYS", "1")
    result, attempts = job(with_live_ins)
    assert "the code before the region wrote 6 bytes to stdout" in attempts[0]["left"]
    assert {row["ran"] for row in attempts} == {"filters"} and len(result.warnings) == 2


def test_the_command_line_says_what_ran(app: Path, tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_bytes(TEXT)
    done = cli_here("run", app, tmp_path / "in.txt", "-o", tmp_path / "host", "--cpu-only")
    assert "map tasks: CPU 1 (" in done.message and "), 1 as host kernels" in done.message
    done = cli_here("run", app, tmp_path / "in.txt", "-o", tmp_path / "filters", "--cpu-only", "--filters")
    assert "host kernels" not in done.message and parts(tmp_path / "host") == parts(tmp_path / "filters")


def test_the_option_wins_over_the_setting(app: Path, job) -> None:
    result, attempts = job(app, filters=True, settings=["heterodoop.host.kernels=true"])
    assert {row["ran"] for row in attempts} == {"filters"} and [w.code for w in result.warnings] == ["HD034"]


def test_host_code_names_the_bundle_s_programs(with_live_ins: Path) -> None:
    found = host_code(load(with_live_ins), with_live_ins, 1)
    assert found is not None
    assert (found.program, found.prologue) == (with_live_ins / "bin/map.host", with_live_ins / "bin/map.prologue")
    assert found.folds and found.regroup
    without = host_code(load(with_live_ins), with_live_ins, 0)
    assert without is not None and not without.folds and not without.regroup


class Scripted:
    """A runner whose map tasks end as they are told, one after the other, and succeed as filters."""

    def __init__(self, *statuses: TaskStatus) -> None:
        self.statuses = list(statuses)
        self.specs: list[MapSpec] = []

    def map_task(self, spec: MapSpec, progress: Progress | None = None) -> TaskResult:
        self.specs.append(spec)
        status = self.statuses.pop(0) if spec.host else TaskStatus.OK
        return TaskResult(status, None, None, None, "why", {}, {"total": 2.0}, {}, "", "")

    def reduce_task(self, spec: ReduceSpec, progress: Progress | None = None) -> TaskResult:
        raise AssertionError

    def prologue(self, *arguments: object) -> TaskResult:
        raise AssertionError


def map_run(folder: Path, **place: int) -> MapRun:
    (folder / "in").write_bytes(b"a\n")
    job = CpuJob(folder / "map", None, None, False, None, (), 0, b"", False, 1 << 20, "reporter:")
    names = TaskNames("job_1_1", True, 0, 0, folder, folder)
    where = Place(folder, folder, folder / "log", names)._replace(**place)
    return MapRun(job, Split(InputFile(str(folder / "in"), 2), 0, 2), where, folder / "out", folder / "index")


def host_maps(runner: Scripted) -> HostMaps:
    kernel = Kernel("map.cu", "hd_map", 128, 0, 0, 0, 0, 1, 0, (), "", "once", KernelPlan(), ())
    return HostMaps(HostCode(Path("/map.host"), kernel, None, True, True), runner, Prologues(runner))


@pytest.mark.parametrize("place", ["watch_from", "combine_watch_from"])
def test_an_attempt_that_is_watched_is_the_filters(tmp_path: Path, place: str) -> None:
    runner = Scripted()
    result = host_maps(runner).run_map(map_run(tmp_path, **{place: 0}), Progress())
    assert not result.host and result.left == "" and [spec.host for spec in runner.specs] == [None]


def test_a_task_that_was_told_to_stop_is_not_done_again(tmp_path: Path) -> None:
    runner, progress = Scripted(TaskStatus.HOST_LEFT), Progress()
    progress.cancel()
    assert host_maps(runner).run_map(map_run(tmp_path), progress).cancelled and len(runner.specs) == 1


def test_a_changed_input_is_no_reason_to_run_filters(tmp_path: Path) -> None:
    runner, run = Scripted(), map_run(tmp_path)
    (tmp_path / "in").unlink()
    failure = host_maps(runner).run_map(run, Progress()).failure
    assert failure and failure.code == "HD049" and runner.specs == []


def test_the_seconds_of_a_host_kernel_that_was_left_are_known(tmp_path: Path) -> None:
    runner = Scripted(TaskStatus.HOST_SILENT)
    (tmp_path / "log").write_bytes(b"of the host kernel")
    maps, run = host_maps(runner), map_run(tmp_path)
    result = maps.run_map(run, Progress())
    assert result.seconds == {"total": 2.0, "left": 2.0} and result.left == "why" and not (tmp_path / "log").exists()
    assert [bool(spec.host) for spec in runner.specs] == [True, False]
    assert maps.run_map(run, Progress()).left == "not tried any more: why" and len(runner.specs) == 3
