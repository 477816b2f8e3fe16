"""Jobs whose devices are worker processes (of the emulated device): faults at any moment, the same bytes, nothing left.

A GPU's worker differs in what it opens only.
"""

from __future__ import annotations

import json
import os
import random
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from heterodoop.engine.devices import devices
from heterodoop.engine.devices.devices import DeviceSource
from heterodoop.engine.rounds.iterate import run_iterated
from heterodoop.engine.run import local
from heterodoop.engine.run.local import run_local
from heterodoop.engine.run.plan import RunOptions
from heterodoop.errors import UsageError
from heterodoop.executor.native.runtime import Phase
from heterodoop.executor.task import cpu_task, orphans
from heterodoop.executor.worker.process import WorkerProcess
from heterodoop.job.spec import JobSpec
from heterodoop.job.stopping import IterateOptions, Round
from heterodoop.manifest import FILE, load, sha256

from ...cases.processes import Watched, start_watched
from ...support import cli_here
from ..conftest import parts
from ..worker_jobs import Run, children, codes, ran_on

WORKERS = "heterodoop.emulated.workers="
# Pieces so small that a task lasts for as long as a test needs to strike in the middle of it.
SLOW = "heterodoop.gpu.sub-split.bytes=200"
pytestmark = pytest.mark.usefixtures("kernel_cache")


def strike(started: list[WorkerProcess], number: int, when: Callable[[WorkerProcess], bool], how: int) -> threading.Thread:
    """Send a signal to the worker that is started as the `number`-th, as soon as `when` says so."""

    def wait() -> None:
        end = time.monotonic() + 60
        while time.monotonic() < end:
            if len(started) > number and when(started[number]):
                os.kill(started[number].pid, how)
                return
            time.sleep(0.0002)

    thread = threading.Thread(target=wait)
    thread.start()
    return thread


def working(phase: Phase, nbytes: int = 0) -> Callable[[WorkerProcess], bool]:
    """A task runs, and is so far."""

    def seen(process: WorkerProcess) -> bool:
        return any(
            session.calls and session.block.phase >= phase and session.block.bytes_in >= nbytes
            for session in process._sessions
        )

    return seen


@pytest.mark.parametrize("workers", [1, 2])
def test_a_job_on_workers_has_the_same_bytes(device_job: Run, expected, started, workers: int) -> None:
    result = device_job(f"{WORKERS}{workers}")
    assert parts(result.output) == expected and result.warnings == ()
    assert ran_on(result) == {"emulated": 5} and result.report["device"]["sub_splits"] == 5
    ends = [process.how_it_ended() for process in started]  # one that was not ready in time is killed
    assert len(ends) == workers and "exit status 0" in ends and set(ends) <= {"exit status 0", "killed by SIGKILL"}


def test_a_job_does_not_sleep_through_its_gpus_waking(device_job: Run, expected, monkeypatch: pytest.MonkeyPatch) -> None:
    """The CPU's tasks last until a GPU had one, and nothing else would make the loop look up."""
    began, on_cpu, on_device = threading.Event(), cpu_task.run_map, devices.Devices.run_map

    def waits(*arguments: object) -> object:
        assert began.wait(60)
        return on_cpu(*arguments)  # type: ignore[arg-type]

    def begins(*arguments: object) -> object:
        began.set()
        return on_device(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(cpu_task, "run_map", waits)
    monkeypatch.setattr(devices.Devices, "run_map", begins)
    monkeypatch.setattr(local, "POLL_SECONDS", 600.0)
    result = device_job(f"{WORKERS}1", policy="gpu-first", filters=True)
    assert parts(result.output) == expected and ran_on(result)["emulated"] >= 1


def test_input_stays_on_a_device_from_round_to_round(wordcount: Path, sample: Path, tmp_path: Path, expected) -> None:
    (tmp_path / "none").touch()
    chosen = RunOptions(quiet=True, device="emulated", settings=(f"{WORKERS}1", "heterodoop.gpu.sessions=1"),
                        split_size=12_000, reducers=2, files=(f"{tmp_path / 'none'}#side",))
    result = run_iterated(JobSpec.of(wordcount, [str(sample)], str(tmp_path / "out"), chosen, IterateOptions("side", 3)),
                          chosen,
                          devices=DeviceSource(lasting=True))
    assert parts(result.output) == expected
    size = sample.stat().st_size
    assert [done["input"] for done in result.report["iterate"]["rounds"]] == [
        {"read_bytes": size, "kept_bytes": 0}, {"read_bytes": 0, "kept_bytes": size}]


def test_rounds_of_a_job_have_the_same_worker(wordcount: Path, sample: Path, tmp_path: Path, expected, started) -> None:
    """A worker takes a second to wake a GPU. Each round's report counts what was done, and went wrong, in that round."""
    (tmp_path / "none").touch()
    chosen = RunOptions(quiet=True, device="emulated", settings=(f"{WORKERS}1",), split_size=12_000, cpu_slots=2, reducers=2,
                        files=(f"{tmp_path / 'none'}#side",))
    reports = []

    def between(done: Round) -> None:
        reports.append(done.report)
        if done.number == 1:
            os.kill(started[0].pid, signal.SIGKILL)

    result = run_iterated(JobSpec.of(wordcount, [str(sample)], str(tmp_path / "out"), chosen, IterateOptions("side", 3)),
                          chosen,
                          devices=DeviceSource(lasting=True), tell=between)
    assert parts(result.output) == expected and not children()
    assert len(reports) == 2 and len(started) == 2, "one worker, and one in place of the killed one"
    assert [report["device"]["sub_splits"] for report in reports] == [5, 5]
    assert [report["device"]["worker_faults"] for report in reports] == [0, 1]
    assert reports[1]["device"]["kept_bytes"] == 0, "what was kept is gone with its process"
    assert codes(result) == ["HD416"]


MOMENTS = {
    "while it starts": lambda process: True,
    "before a piece is done": working(Phase.START),
    "in the middle": working(Phase.FILTER, 2000),
    "at the end": working(Phase.FINISH),
}


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_worker_that_is_killed_is_replaced(device_job: Run, expected, started, moment: str) -> None:
    thread = strike(started, 0, MOMENTS[moment], signal.SIGKILL)
    result = device_job(f"{WORKERS}1", SLOW)
    thread.join()
    assert parts(result.output) == expected and ran_on(result) == {"emulated": 5} and len(started) == 2
    (warning,) = result.warnings
    assert warning.code == "HD416" and "GPU 0 (emulated) failed once, and was used again" in warning.message
    assert "killed by SIGKILL" in warning.message
    rows = (result.report_folder / "attempts.jsonl").read_text().splitlines()
    retried = [json.loads(row).get("retried", "") for row in rows]
    assert any("killed by SIGKILL" in why for why in retried) == (moment != "while it starts")


def test_a_task_whose_workers_die_twice_runs_on_the_cpu(device_job: Run, expected, started) -> None:
    threads = [strike(started, number, working(Phase.START), signal.SIGKILL) for number in range(2)]
    result = device_job(f"{WORKERS}1", SLOW, "heterodoop.gpu.sessions=1")
    for thread in threads:
        thread.join()
    assert parts(result.output) == expected and ran_on(result) == {"cpu": 1, "emulated": 4}
    assert codes(result) == ["HD416", "HD410"] and len(started) == 3
    (left,) = result.report["device"]["left_to_cpu"]
    assert "the emulated device failed: its worker process ended: killed by SIGKILL" in left["reason"]


def test_after_some_faults_a_gpu_is_out_of_service(device_job: Run, expected, started) -> None:
    threads = [strike(started, number, working(Phase.START), signal.SIGKILL) for number in range(3)]
    result = device_job(f"{WORKERS}1", SLOW)
    for thread in threads:
        thread.join()
    assert parts(result.output) == expected and ran_on(result) == {"cpu": 5} and len(started) == 3
    assert codes(result)[0] == "HD415" and set(codes(result)[1:]) == {"HD410"}
    assert "GPU 0 (emulated) is out of service after 3 faults, the last: its worker" in result.warnings[0].message


def test_the_other_gpu_goes_on(device_job: Run, expected, started) -> None:
    thread = strike(started, 0, working(Phase.START), signal.SIGKILL)
    result = device_job(f"{WORKERS}2", SLOW, "heterodoop.gpu.faults=1")
    thread.join()
    assert parts(result.output) == expected and codes(result)[0] == "HD415" and len(started) == 2
    assert ran_on(result)["emulated"] >= 1


def test_a_worker_that_stands_still_is_found(device_job: Run, expected, started) -> None:
    thread = strike(started, 0, working(Phase.FILTER, 1000), signal.SIGSTOP)
    result = device_job(f"{WORKERS}1", SLOW, "heterodoop.gpu.hang.seconds=1")
    thread.join()
    assert parts(result.output) == expected and ran_on(result) == {"emulated": 5} and len(started) == 2
    assert codes(result) == ["HD416"] and "it made no progress for 1" in result.warnings[0].message


def endless(app: Path, folder: Path) -> Path:
    """The bundle with a map kernel that never ends."""
    bundle = folder / "endless.hdp"
    bundle.mkdir()
    for path in app.rglob("*"):
        target = bundle / path.relative_to(app)
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.is_file():
            target.write_bytes(path.read_bytes())
            target.chmod(path.stat().st_mode)
    program = load(bundle).program("map")
    assert program and program.kernel
    kernel = bundle / program.kernel.source
    old = sha256(kernel)
    loop = "while (hd.next()) {"
    before, found, after = kernel.read_text().partition(loop)
    assert found
    kernel.write_text(f"{before}{loop} for (volatile int on = 1; on;) {{}}{after}")
    manifest = bundle / FILE
    manifest.write_text(manifest.read_text().replace(old, sha256(kernel)))
    return bundle


def test_a_kernel_that_never_ends_is_found(wordcount, device_job: Run, expected, started, tmp_path: Path) -> None:
    settings = f"{WORKERS}1", "heterodoop.gpu.hang.seconds=1", "heterodoop.gpu.faults=2"
    result = device_job(*settings, bundle=endless(wordcount, tmp_path))
    assert parts(result.output) == expected and ran_on(result) == {"cpu": 5}
    assert codes(result)[0] == "HD415" and "made no progress for 1" in result.warnings[0].message


def test_a_command_s_last_job_does_not_wait_for_its_workers(
    wordcount: Path, sample: Path, tmp_path: Path, expected, started, monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One that takes its time to let go of a GPU is told to end, and neither waited for nor killed."""
    ended = threading.Event()
    finish = WorkerProcess.finish

    def late(process: WorkerProcess) -> None:
        assert ended.wait(60)
        finish(process)

    monkeypatch.setattr(WorkerProcess, "finish", late)
    options = RunOptions(
        quiet=True, device="emulated", settings=(f"{WORKERS}1",), split_size=12_000, cpu_slots=2, reducers=2)
    with orphans.held():
        result = run_local(wordcount, [str(sample)], str(tmp_path / "out"), options, devices=DeviceSource(last=True))
    assert parts(result.output) == expected and ran_on(result) == {"emulated": 5}
    assert children() == [started[0].pid]
    ended.set()
    assert started[0].how_it_ended() == "exit status 0"
    orphans._let_go.clear()


def test_a_job_that_fails_takes_its_workers_along(device_job: Run, started, monkeypatch) -> None:
    def broken(*arguments: object) -> None:
        raise OSError("a bug of the engine")

    monkeypatch.setattr(local.AttemptRunner, "commit", broken)
    with pytest.raises(OSError, match="a bug of the engine"):
        device_job(f"{WORKERS}2")
    assert len(started) == 2 and not children()


def test_a_job_that_is_refused_takes_its_workers_along(wordcount, sample, tmp_path, started) -> None:
    options = RunOptions(device="emulated", settings=[f"{WORKERS}1"])
    with pytest.raises(UsageError):
        run_local(wordcount, [str(tmp_path / "none")], str(tmp_path / "out"), options, devices=DeviceSource())
    assert not children()


def waiting(watched: Watched) -> bool:
    """A worker of the command runs a task: its processor time grows."""
    for number in watched.processes():
        try:
            if b"executor.worker" in Path(f"/proc/{number}/cmdline").read_bytes():
                fields = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()
                return int(fields[11]) + int(fields[12]) > 100  # ticks of 10 ms
        except OSError:
            pass
    return False


def wait_until(condition: Callable[[], bool], seconds: float = 30.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.02)


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 130), (signal.SIGKILL, -9)])
def test_no_worker_survives_its_engine(wordcount, sample, tmp_path, number: int, status: int) -> None:
    """In the middle of a kernel that never ends, which nobody can stop."""
    bundle = endless(wordcount, tmp_path)
    watched = start_watched(tmp_path, "run", bundle, sample, "-o", "out", "--device", "emulated", "-D", f"{WORKERS}1")
    wait_until(lambda: waiting(watched))
    watched.process.send_signal(number)
    out, err = watched.process.communicate(timeout=15)
    assert watched.process.returncode == status, err
    wait_until(lambda: not watched.processes(), 3)
    if number != signal.SIGKILL:
        assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("seed", range(6))
def test_an_end_at_any_moment_leaves_nothing(wordcount, sample, tmp_path, seed: int) -> None:
    watched = start_watched(
        tmp_path, "run", wordcount, sample, "-o", "out", "--split-size", "12000", "--device", "emulated",
        "-D", f"{WORKERS}2", "-D", SLOW,
    )
    time.sleep(random.Random(seed).uniform(0.1, 2.0))
    watched.process.send_signal(signal.SIGKILL if seed % 2 else signal.SIGINT)
    out, err = watched.process.communicate(timeout=15)
    # -2: it came while Python was still loading the command line.
    assert watched.process.returncode in (0, 130, -2, -9), err
    wait_until(lambda: not watched.processes(), 3)
    if watched.process.returncode == 130:
        assert not (tmp_path / "out").exists() and b"Traceback" not in err


def test_verify_uses_workers_too(wordcount, sample, started) -> None:
    done = cli_here("verify", wordcount, sample, "--split-size", "30000", "-D", f"{WORKERS}1", "--json")
    found = json.loads(done.out)
    assert (found["equal"], found["different"]) == (2, 0) and len(started) == 1 and not children()
