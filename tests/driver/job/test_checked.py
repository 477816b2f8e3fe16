"""What a device made is checked before it is sent: damage is a refusal, and the task is not tried there again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from heterodoop.driver.job.fetch import OwnFiles, SplitInput, SplitMemory
from heterodoop.driver.job.files import FileStore, Folders
from heterodoop.driver.job.gpus import DeviceWish, Gpus
from heterodoop.driver.job.host import HostKernels
from heterodoop.driver.job.jobs import Job, Jobs
from heterodoop.driver.job.offer import Declined, Offer
from heterodoop.driver.job.removals import Removals
from heterodoop.driver.job.tasks import Cancelled, DeviceResult, Say, Tasks, Work
from heterodoop.driver.wire.protocol import Message, Type
from heterodoop.executor.kernel.prologue import Prologues
from heterodoop.executor.native.runtime import Native
from heterodoop.executor.task.report import AttemptResult
from heterodoop.scheduler.node.model import Side, Why
from heterodoop.storage.hadoop_conf import HadoopConf

from ...native.oracle import ifile, sorted_partitions
from ..client import Attempt

PAIRS = [(f"k{n}".encode(), b"1") for n in range(50)]


@pytest.fixture
def native() -> Native:
    return Native.load()


@pytest.fixture
def tasks(native: Native, tmp_path: Path) -> Tasks:
    cluster = OwnFiles(HadoopConf(None, {}, {}))
    return Tasks(native, Gpus(DeviceWish("emulated")), cluster, SplitMemory(1), tmp_path / "attempts", Removals(),
                 HostKernels(native, 0))


@pytest.fixture
def unfit() -> list[tuple[Side, Why]]:
    """What was said of jobs of which no attempt is to have a GPU, or a host kernel."""
    return []


def offer_of(attempt: Attempt) -> Offer:
    fields = tuple((name, value if isinstance(value, bytes) else str(value).encode()) for name, value in attempt.offer())
    return Offer.of(Message(Type.OFFER, fields))


def work(attempt: Attempt, native: Native, unfit: list[tuple[Side, Why]]) -> Work:
    nothing: Any = None
    job = Job(Prologues(native), lambda why, side: unfit.append((side, why)))
    return Work(offer_of(attempt), job, nothing, Path("/none"), [])


def result(folder: Path, partitions: Any) -> DeviceResult:
    data, index = ifile(partitions)
    (folder / "out").write_bytes(data)
    (folder / "out.index").write_bytes(index)
    return DeviceResult(AttemptResult(), folder / "out", folder / "out.index", {}, "emulated 0",
                        SplitInput("", 0, "driver", 0), 0, b"")


def test_a_right_output_passes(
    tasks: Tasks, native: Native, attempt: Attempt, tmp_path: Path, unfit: list[tuple[Side, Why]],
) -> None:
    given = work(attempt, native, unfit)
    done = tasks._checked(given, result(tmp_path, sorted_partitions(PAIRS, 3)), Say())
    assert done.seconds["check"] > 0 and not unfit
    assert done.attempt.counters["MAP_OUTPUT_MATERIALIZED_BYTES"] == (tmp_path / "out").stat().st_size


def test_a_wrong_one_is_refused(
    tasks: Tasks, native: Native, attempt: Attempt, tmp_path: Path, unfit: list[tuple[Side, Why]],
) -> None:
    given = work(attempt, native, unfit)
    with pytest.raises(Declined) as caught:
        tasks._checked(given, result(tmp_path, sorted_partitions(PAIRS, 3)[::-1]), Say())
    assert caught.value.code == "HD618" and "partition" in caught.value.reason
    host = replace(given, side="host")
    with pytest.raises(Declined):
        tasks._checked(host, result(tmp_path, sorted_partitions(PAIRS, 3)[::-1]), Say())
    assert [(side, why.code) for side, why in unfit] == [("gpu", "HD619"), ("host", "HD618")]
    assert "task_1_0001_m_000000 of the job made a GPU fail" in unfit[0][1].reason


def test_an_attempt_that_is_gone_is_not_refused(
    tasks: Tasks, native: Native, attempt: Attempt, tmp_path: Path, unfit: list[tuple[Side, Why]],
) -> None:
    say = Say()
    say.progress.cancel()
    given = work(attempt, native, unfit)
    with pytest.raises(Cancelled):
        tasks._checked(given, result(tmp_path, sorted_partitions(PAIRS, 3)[::-1]), say)
    assert not unfit


def test_idle_jobs_are_forgotten(native: Native, tmp_path: Path) -> None:
    folders = Folders(FileStore(tmp_path / "s", 100), tmp_path / "f", Removals())
    jobs = Jobs(native, "emulated", folders, lambda job, why, side: None)
    with jobs.attempt("job_1"), jobs.attempt("job_2") as two:
        assert jobs.forget_idle(10**9) == []
    two.used = 10**9
    assert jobs.forget_idle(10**9 + 1) == ["job_1"] and len(jobs) == 1
