"""Jobs of `heterodoop run` on a driver's devices: the same bytes, whose devices they were, and each way it can end."""

from __future__ import annotations

import itertools
import os
import pickle
import re
import signal
import socket
import stat
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from heterodoop.commands.driver import text_of
from heterodoop.driver.job.modules import Modules
from heterodoop.engine.devices.devices import DeviceSource
from heterodoop.engine.rounds.iterate import run_iterated
from heterodoop.engine.run.local import JobResult, run_local
from heterodoop.engine.run.plan import RunOptions
from heterodoop.errors import DeviceError
from heterodoop.executor.gpu.gpus import Gpu
from heterodoop.executor.kernel.gpu_task import KernelCall, KernelCode
from heterodoop.executor.kernel.native_device import DeviceOptions
from heterodoop.executor.kernel.prologue import LiveIns
from heterodoop.executor.lent import lender, terms
from heterodoop.executor.lent.lender import Connection
from heterodoop.executor.lent.words import ASK, GiveBack, Granted, Lender, LentChannel, LoanDeclined, LoanWish, Working
from heterodoop.executor.lent_pool import LentPool
from heterodoop.executor.native.runtime import FilterCommand, MapSpec, Progress, TaskStatus
from heterodoop.executor.worker.client import no_result
from heterodoop.executor.worker.messages import Reply, RunTask
from heterodoop.job.spec import JobSpec
from heterodoop.job.stopping import IterateOptions as Rounds
from heterodoop.job.stopping import Round

from ..support import Bundles, alive, changed_kernel, parts
from .instrumented import VARIABLE as FAULT
from .running import Driver, driver_folder, running, wait_for
from .test_faults import CRASHES

pytestmark = pytest.mark.usefixtures("kernel_caches")
Job = Callable[..., JobResult]


@pytest.fixture
def job(wordcount: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Job:
    """Word count in several map tasks, with the driver's folder that is named."""
    (tmp_path / "in.txt").write_bytes(b"".join(b"%d of the words %d\n" % (n % 97, n % 31) for n in range(12_000)))

    def go(
        folder: Path | None, *settings: str, out: str = "out", device: str = "emulated", bundle: Path = wordcount,
        **options: Any,
    ) -> JobResult:
        monkeypatch.setenv("HETERODOOP_DRIVER_DIR", str(folder or tmp_path / "none"))
        chosen = {"split_size": 40_000, "cpu_slots": 2, "reducers": 2, **options}
        wish = RunOptions(quiet=True, device=device, settings=settings, **chosen)
        source = DeviceSource(borrow=True)
        return run_local(bundle, [str(tmp_path / "in.txt")], str(tmp_path / out), wish, devices=source)

    return go


@pytest.fixture
def expected(job: Job) -> list[bytes]:
    return parts(job(None, device="cpu", out="expected").output)


AtTask = Callable[[int, float, Callable[[], object]], None]


@pytest.fixture
def at_task(monkeypatch: pytest.MonkeyPatch) -> AtTask:
    """Lets something happen so many seconds after the job's n-th task was sent to the driver."""

    def arrange(nth: int, seconds: float, act: Callable[[], object]) -> None:
        tasks, answer = itertools.count(1), Connection._answer

        def answered(self: Connection, progress: Progress | None) -> Any:
            if progress is None and next(tasks) == nth:
                time.sleep(seconds)
                act()
            return answer(self, progress)

        monkeypatch.setattr(Connection, "_answer", answered)

    return arrange


def whose(result: JobResult) -> dict[str, Any]:
    return result.report["device"]["driver"]


def codes(result: JobResult) -> list[str]:
    return [warning.code for warning in result.warnings]


def awake(driver: Driver) -> dict[str, Any]:
    """Its device, once there is a process."""
    wait_for(lambda: driver.status()["gpus"][0]["ready"])
    return dict(driver.status()["gpus"][0])


def nothing_lent(driver: Driver) -> bool:
    state = driver.status()
    return not state["lent"]["now"] and not state["queue"]["running"] and not state["counts"].get("internal_errors")


def test_a_job_on_a_driver_s_devices(driver: Driver, job: Job, expected: list[bytes]) -> None:
    before = driver.status()["lent"]["times"]
    first = job(driver.folder)
    second = job(driver.folder, policy="tail", out="second")
    assert parts(first.output) == parts(second.output) == expected
    assert first.report["device"]["map_tasks"] == {"emulated": 6} and not codes(first)
    assert whose(first) == {"use": "driver", "pid": driver.pid(), "folder": str(driver.folder), "lost_tasks": 0}
    assert first.report["device"]["sub_splits"] >= 6
    assert driver.status()["lent"]["times"] >= before + 6 and wait_for(lambda: nothing_lent(driver))
    assert len(list((driver.folder / "driver.work" / "modules").iterdir())) == 2  # of both jobs


def test_text_without_reducers_has_the_mode_of_the_job_s_own(driver: Driver, job: Job) -> None:
    lent, own = job(driver.folder, reducers=0), job(None, reducers=0, out="own")
    assert parts(lent.output) == parts(own.output) and whose(lent)["use"] == "driver" and whose(own)["use"] == "own"
    modes = [stat.S_IMODE((result.output / "part-00000").stat().st_mode) for result in (lent, own)]
    assert modes[0] == modes[1]


def test_jobs_side_by_side_have_turns(driver: Driver, job: Job, expected: list[bytes]) -> None:
    found: list[JobResult] = []
    threads = [threading.Thread(target=lambda n=n: found.append(job(driver.folder, out=f"out{n}"))) for n in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [parts(result.output) for result in found] == [expected] * 3
    assert all(result.report["device"]["map_tasks"] == {"emulated": 6} for result in found)


@pytest.mark.parametrize(("settings", "options", "why", "refused"), [
    ((), {"driver": "never"}, "the job wants none", False),
    ((), {"gpus": "0"}, "--gpus names GPUs for workers of the job's own", True),
    (("heterodoop.emulated.workers=1",), {}, "heterodoop.emulated.workers wants workers of the job's own", True),
])
def test_a_job_that_has_workers_of_its_own(
    driver: Driver, job: Job, expected: list[bytes], settings: tuple[str, ...], options: dict[str, str], why: str,
    refused: bool,
) -> None:
    result = job(driver.folder, *settings, **options)
    assert parts(result.output) == expected and whose(result) == {"use": "own", "why": why, "refused": refused}


def test_without_a_driver(job: Job, expected: list[bytes]) -> None:
    result = job(None)
    assert parts(result.output) == expected
    assert whose(result) == {"use": "own", "why": "none runs", "refused": False}


@pytest.mark.parametrize(("name", "value", "why"), [
    ("code", "another", "it is of another version of HeteroDoop"), ("umask", 0o77, "it has another umask"),
    ("files", ("mnt:[1]",), "it sees other files"), ("rights", (7,), "it is in other groups"),
    ("limits", ((1, 1),), "it has other limits (ulimit)"),
    ("gpus", ("CUDA_VISIBLE_DEVICES=1",), "it has other variables of CUDA"),
])
def test_a_driver_on_other_terms(
    driver: Driver, monkeypatch: pytest.MonkeyPatch, name: str, value: Any, why: str,
) -> None:
    ours = terms.here()._replace(**{name: value})
    monkeypatch.setattr(terms, "here", lambda: ours)
    with pytest.raises(DeviceError, match=why.replace("(", r"\(").replace(")", r"\)")):
        Connection(driver.folder)


def test_a_driver_of_another_kind_of_device(driver: Driver, monkeypatch: pytest.MonkeyPatch) -> None:
    from heterodoop.engine.devices import borrowing
    from heterodoop.job import jobconf

    monkeypatch.setenv("HETERODOOP_DRIVER_DIR", str(driver.folder))
    assert borrowing.find("cuda", None, jobconf.parse((), {})) == "it has emulated devices"


def test_a_driver_that_dies_before_a_task(cache: dict[str, str], job: Job, expected: list[bytes], tmp_path: Path) -> None:
    with running(environment={**cache, FAULT: "die@running"}) as driver:
        result = job(driver.folder)
    assert parts(result.output) == expected and result.report["device"]["map_tasks"] == {"cpu": 6}
    assert "HD434" in codes(result) and whose(result)["lost_tasks"] > 0
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith("out")) == ["out", "out.report"]


@pytest.mark.parametrize(("nth", "seconds"), [(1, 0), (2, 0.002), (3, 0.01), (4, 0.02)])
def test_a_driver_that_is_killed_while_tasks_run(
    cache: dict[str, str], job: Job, expected: list[bytes], tmp_path: Path, at_task: AtTask, nth: int, seconds: float,
) -> None:
    """At any moment: its workers end with it, and none of them writes to what the CPU makes then."""
    with running("--sessions", 4, environment=cache) as driver:
        workers = [awake(driver)["pid"]]
        at_task(nth, seconds, lambda: os.kill(driver.pid(), signal.SIGKILL))
        result = job(driver.folder, split_size=20_000)
    assert parts(result.output) == expected
    assert result.report["device"]["map_tasks"]["cpu"] and "HD410" in codes(result)
    wait_for(lambda: not any(map(alive, workers)))
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith("out")) == ["out", "out.report"]


def test_a_driver_that_was_started_again(cache: dict[str, str], job: Job, expected: list[bytes]) -> None:
    """Between two tasks of a job, which holds connections to the old one."""
    with driver_folder(cache) as driver:
        processes = [driver.serve()]
        pool = LentPool(driver.folder, Connection(driver.folder), 30.0)
        with pool.take(DeviceOptions(), 1, Progress()) as taken:
            assert taken.arch == ""
        driver.kill()
        with pytest.raises(DeviceError, match="none answers|cannot be used"), pool.take(DeviceOptions(), 1, Progress()):
            pass
        processes.append(driver.serve())
        with pool.take(DeviceOptions(), 1, Progress()):
            assert len(driver.status()["lent"]["now"]) == 1
            assert text_of(driver.status()).endswith(" has a session of GPU 0\n")
        pool.close()
        driver.stop(now=True)
        for process in processes:
            process.wait(20)


def test_a_worker_that_is_killed(driver: Driver, job: Job, expected: list[bytes], at_task: AtTask) -> None:
    """The driver starts another one, and the task runs there."""
    worker = awake(driver)
    at_task(2, 0.001, lambda: os.kill(worker["pid"], signal.SIGKILL))
    result = job(driver.folder)
    assert parts(result.output) == expected and not whose(result)["lost_tasks"]
    assert driver.status()["gpus"][0]["restarts"] == worker["restarts"] + 1


def test_a_job_whose_kernel_makes_the_device_fail(
    driver: Driver, job: Job, bundles: Bundles, tmp_path: Path, expected: list[bytes],
) -> None:
    """It costs the driver two workers, and no more: the CPU has the rest of it. Another job goes on."""
    outside = partial(re.sub, r"hd::within<16>\(hd, at, \d+\)", "(at + 100000000000)")
    bundle = changed_kernel(bundles.get(CRASHES), tmp_path / "crashes.hdp", outside)
    words = (tmp_path / "in.txt").read_bytes()
    (tmp_path / "in.txt").write_bytes(b"3\n5\n" * 20_000)
    restarts = awake(driver)["restarts"]
    found = job(driver.folder, bundle=bundle, split_size=10_000, driver="auto", out="crashed")
    assert parts(found.output) == parts(job(None, bundle=bundle, device="cpu", out="filters").output)
    assert found.report["device"]["map_tasks"] == {"cpu": 8}
    said = [warning.message for warning in found.warnings if warning.code == "HD434"]
    assert len(said) == 1 and said[0].startswith("a task of the job made a GPU of the driver fail")
    assert restarts + 2 <= awake(driver)["restarts"] <= restarts + 4, "two sessions were at work"
    (tmp_path / "in.txt").write_bytes(words)
    assert parts(job(driver.folder, out="another").output) == expected


def test_rounds_on_a_driver_s_devices(
    cache: dict[str, str], job: Job, wordcount: Path, expected: list[bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One that is gone between two rounds is not missed."""
    (tmp_path / "none").touch()
    reports = []
    with running(environment=cache) as driver:
        monkeypatch.setenv("HETERODOOP_DRIVER_DIR", str(driver.folder))

        def between(done: Round) -> None:
            reports.append(done.report)
            driver.kill()

        wish = RunOptions(quiet=True, device="emulated", split_size=40_000, reducers=2, files=(f"{tmp_path / 'none'}#side",))
        spec = JobSpec.of(wordcount, [str(tmp_path / "in.txt")], str(tmp_path / "out"), wish, Rounds("side", 2))
        result = run_iterated(spec, wish, devices=DeviceSource(lasting=True, borrow=True), tell=between)
    assert parts(result.output) == expected
    assert [report["device"]["map_tasks"] for report in (*reports, result.report)][-1] == {"emulated": 6}
    assert reports[0]["device"]["driver"]["use"] == "driver" and whose(result)["use"] == "own"


def test_a_job_that_ends_without_a_word(driver: Driver) -> None:
    """What it had or waited for is free again."""
    held = [Connection(driver.folder) for _ in range(3)]
    for connection in held[:2]:  # as many as the device has sessions
        connection.take(LoanWish("gone", 1, 30.0), Progress())
    waiting = threading.Thread(target=lambda: pytest.raises(
        (OSError, EOFError), held[2].take, LoanWish("gone", 1, 30.0), Progress()))
    waiting.start()
    wait_for(lambda: driver.status()["queue"]["waiting"] == 1)
    for connection in held[::-1]:  # who waits first, or it would be granted what the others had
        connection._channel.socket.shutdown(socket.SHUT_RDWR)
    waiting.join()
    for connection in held:
        connection.close()
    wait_for(lambda: nothing_lent(driver) and not driver.status()["queue"]["waiting"])


def test_a_task_that_is_stopped_while_it_waits(driver: Driver) -> None:
    pool, progress = LentPool(driver.folder, Connection(driver.folder), 30.0), Progress()
    held = [Connection(driver.folder) for _ in range(2)]
    for connection in held:
        connection.take(LoanWish("others", 1, 30.0), Progress())
    threading.Timer(0.3, progress.cancel).start()
    with pytest.raises(DeviceError, match="the task was stopped"), pool.take(DeviceOptions(), 1, progress):
        pass
    for connection in held:
        connection.give_back()
    wait_for(lambda: nothing_lent(driver))
    with pool.take(DeviceOptions(), 1, Progress()):
        pass
    for one in (*held, pool):
        one.close()


class _Evil:
    def __reduce__(self) -> tuple[Any, ...]:
        return os.system, ("touch /tmp/heterodoop-was-here",)


@pytest.mark.parametrize("message", [
    pickle.dumps(_Evil()), pickle.dumps(subprocess.Popen), b"no pickle", pickle.dumps(LoanWish("a", 1, 1.0)),
    pickle.dumps(GiveBack()),
], ids=["call", "class", "noise", "no memory", "too early"])
def test_what_does_not_belong_there_closes_the_connection(driver: Driver, message: bytes) -> None:
    with socket.socket(socket.AF_UNIX) as sock:
        sock.connect(str(driver.socket))
        sock.sendall(ASK)
        channel = LentChannel(sock)
        assert isinstance(channel.receive()[0], Lender)
        sock.sendall(len(message).to_bytes(8, "little") + message)
        with pytest.raises(EOFError):
            channel.receive()
    assert not Path("/tmp/heterodoop-was-here").exists() and nothing_lent(driver)


@pytest.mark.parametrize("way", ["its own", "3.11.2"])
def test_members_of_enumerations_arrive_whatever_python_writes_them_as(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if way == "3.11.2":
        monkeypatch.setattr(TaskStatus, "__reduce_ex__", lambda self, protocol: (getattr, (TaskStatus, self.name)))
    here, there = socket.socketpair()
    with here, there:
        LentChannel(here).send(LoanDeclined(TaskStatus.IO_ERROR, "x"))  # type: ignore[arg-type]
        (said, fd) = LentChannel(there).receive()
    assert said.reason is TaskStatus.IO_ERROR and fd == -1


@contextmanager
def playing(act: Callable[[LentChannel], None], why_not: str = "") -> Iterator[Path]:
    """The folder of a driver that does as `act` does on each connection, and says before what it lends."""
    with driver_folder() as place, socket.socket(socket.AF_UNIX) as listener:
        place.folder.mkdir(0o700)
        listener.bind(str(place.socket))
        listener.listen()

        def serve() -> None:
            while True:
                try:
                    sock, _ = listener.accept()
                except OSError:
                    return
                with sock:
                    sock.recv(len(ASK))
                    channel = LentChannel(sock)
                    channel.send(Lender(1, "emulated", (Gpu(0, "emulated", "", 0),), 1, terms.here(), why_not))
                    act(channel)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield place.folder
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()


def _grant(channel: LentChannel) -> None:
    _, fd = channel.receive()
    os.close(fd)
    channel.send(Granted(0, ""))


CALL = KernelCall(KernelCode(None, Path("/none")), LiveIns(b""))  # type: ignore[arg-type]
SPEC = MapSpec(FilterCommand(["/bin/true"]), "/dev/null", "/none/out")


def test_the_worker_of_a_dead_driver_has_ended_before_the_task_runs_elsewhere() -> None:
    with subprocess.Popen(["sleep", "100"]) as worker:

        def act(channel: LentChannel) -> None:
            _grant(channel)
            channel.receive()
            fd = os.pidfd_open(worker.pid)
            channel.send(Working(worker.pid), fd)
            os.close(fd)

        with playing(act) as folder:
            pool = LentPool(folder, Connection(folder), 30.0)
            with pool.take(DeviceOptions(), 1, Progress()) as taken:
                result = taken.device.map_task(SPEC, CALL, None, Progress())
                assert result.status is TaskStatus.DEVICE_LOST and not taken.device.usable
                assert worker.poll() == -signal.SIGKILL
            pool.close()
    assert pool.driver["lost_tasks"] == 1 and "which the CPU did" in pool.warnings[0].message


def test_a_driver_that_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lender, "SILENT_SECONDS", 0.3)

    def act(channel: LentChannel) -> None:
        _grant(channel)
        channel.receive()
        channel.socket.recv(1)  # until the other end gives up

    with playing(act) as folder:
        pool = LentPool(folder, Connection(folder), 30.0)
        with pool.take(DeviceOptions(), 1, Progress()) as taken:
            result = taken.device.map_task(SPEC, CALL, None, Progress())
        pool.close()
    assert result.status is TaskStatus.DEVICE_LOST and "said nothing for 0.3 s" in result.message


def test_kernels_travel_once_and_what_was_counted_adds_up() -> None:
    seen: list[RunTask] = []

    def act(channel: LentChannel) -> None:
        _grant(channel)
        while isinstance(message := channel.receive()[0], RunTask):
            seen.append(message)
            channel.send(Reply(no_result(TaskStatus.DEVICE_FAILED, "it broke", time.monotonic()), {"launches": 2}))

    with playing(act) as folder:
        pool = LentPool(folder, Connection(folder), 30.0)
        with pool.take(DeviceOptions(), 1, Progress()) as taken:
            for _ in range(2):
                assert taken.device.map_task(SPEC, CALL, None, Progress()).message == "it broke"
        pool.blame("it broke")
        with pytest.raises(DeviceError, match="it broke"), pool.take(DeviceOptions(), 1, Progress()):
            pass
        pool.close()
    assert [run.calls for run in seen] == [(CALL, None), None] and pool.stats["launches"] == 4


def test_a_driver_that_lends_nothing() -> None:
    with playing(lambda channel: None, "the GPU driver is stopping") as folder, \
            pytest.raises(DeviceError, match="the GPU driver is stopping"):
        Connection(folder)


def test_a_module_that_is_compiled_anew_at_its_place(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    modules, path = Modules(tmp_path / "kept"), tmp_path / "map.so"
    call = replace(CALL, code=replace(CALL.code, module=path))
    kept = []
    for text in (b"one", b"two", b"one"):
        path.write_bytes(text)
        kept.append(modules.kept(call).code.module)
    assert [found.read_bytes() for found in kept] == [b"one", b"two", b"one"] and kept[0] == kept[2] != kept[1]
    kept[0].unlink()  # by a tidier
    assert modules.kept(call).code.module.read_bytes() == b"one"


def test_a_driver_that_is_told_to_end_waits_for_what_is_lent(cache: dict[str, str]) -> None:
    with running(environment=cache) as driver:
        connection = Connection(driver.folder)
        connection.take(LoanWish("last", 1, 30.0), Progress())
        driver.stop()
        pytest.raises(DeviceError, Connection, driver.folder)
        assert alive(driver.pid())
        connection.give_back()
        wait_for(partial(_gone, driver))
        connection.close()


def _gone(driver: Driver) -> bool:
    return not driver.socket.exists()
