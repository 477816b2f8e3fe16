"""A worker's process: starting it, its faults, how it ended; and what the user of a session hears.

Whole jobs on workers are in tests/engine/devices/test_workers.py.
"""

from __future__ import annotations

import gc
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from heterodoop.errors import DeviceError
from heterodoop.executor.gpu.gpus import Gpu, OpenedGpu, Survey
from heterodoop.executor.kernel.emulated import runtime_module
from heterodoop.executor.kernel.gpu_task import KernelCall, KernelCode
from heterodoop.executor.kernel.prologue import LiveIns
from heterodoop.executor.native import abi as native_abi
from heterodoop.executor.native.runtime import FilterCommand, MapSpec, Phase, Progress, TaskResult, TaskStatus
from heterodoop.executor.worker import (
    client as worker_client,
)
from heterodoop.executor.worker import (
    process as worker_process,
)
from heterodoop.executor.worker import (
    spawn as worker_spawn,
)
from heterodoop.executor.worker import (
    watch as worker_watch,
)
from heterodoop.executor.worker.client import Limits, Worker, WorkerDevice
from heterodoop.executor.worker.messages import Channel, OpenGpu, Reply, RunTask, Setup
from heterodoop.executor.worker.process import SessionChannel, WorkerProcess
from heterodoop.executor.worker.spawn import Spawned
from heterodoop.executor.worker.turns import Turns
from heterodoop.kernel_plan import KernelPlan
from heterodoop.manifest import Kernel

KERNEL = Kernel("cuda/map.cu", "hd_map", 128, 0, 0, 0, 0, 1, 0, (), "", "once", KernelPlan(), ())
CALL = KernelCall(KernelCode(KERNEL, Path("/m.so")), LiveIns(b"live"))
OK = TaskResult(TaskStatus.OK, 0, None, None, "", {"MAP_INPUT_RECORDS": 1}, {"total": 0.5}, {}, "", "")
SPEC = MapSpec(FilterCommand(["/bin/true"]), "/in", "/out")


def wait_for(condition) -> None:
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


def closed(worker: Worker) -> bool:
    worker.close()
    return not worker._thread.is_alive()


@pytest.fixture
def worker(kernel_cache: None) -> Iterator[Worker]:
    """An emulated device's worker with two sessions, started and set up."""
    made = Worker("emulated", 2, Limits(faults=2))
    made.start()
    made.open(0)
    made.setup(Setup(runtime_module(), None))
    yield made
    assert closed(made)


def go_on() -> None:
    """Nobody asks to stop."""


def test_a_worker_says_what_there_is_and_opens_it(worker: Worker) -> None:
    assert worker.survey().gpus[0].name == "emulated" and worker.opened() == OpenedGpu(0, 0)
    process = worker.process(go_on)
    assert worker.ready and worker.out_of_service == "" and os.getpgid(process.pid) == process.pid
    worker.stop()
    assert closed(worker) and process.how_it_ended() == "exit status 0" and not worker.ready
    with pytest.raises(DeviceError, match="the device is closed"):
        worker.process(go_on)


EXPECTED = Survey((0, 0), (Gpu(0, "emulated", "", 0),))


@pytest.mark.parametrize("expected", [EXPECTED, EXPECTED._replace(driver=(1, 0))])
def test_what_was_expected_of_a_worker_has_to_be_so(kernel_cache: None, expected: Survey) -> None:
    told: list[str] = []
    worker = Worker("emulated", 1)
    assert worker.expect(expected, lambda: told.append("other"))
    worker.start()
    worker.open(0)
    worker.setup(Setup(runtime_module(), None))
    if expected == EXPECTED:
        assert worker.process(go_on) and not told and not worker.expect(EXPECTED, told.clear)
    else:
        with pytest.raises(DeviceError, match="the machine has other GPUs than for the last command"):
            worker.process(go_on)
        assert told == ["other"]
    assert closed(worker)


def test_a_worker_has_nothing_of_ours_but_its_channels(worker: Worker, tmp_path: Path) -> None:
    with open(tmp_path / "open", "w") as mine:
        os.set_inheritable(mine.fileno(), False)
        fds = Path(f"/proc/{worker.process(go_on).pid}/fd")
        links = {int(entry.name): os.readlink(entry) for entry in fds.iterdir()}
    assert links[0] == links[1] == "/dev/null" and "memfd:heterodoop-worker-stderr" in links[2]
    assert not any(link.startswith(str(tmp_path)) for link in links.values())


def test_a_worker_ends_with_its_channels(worker: Worker) -> None:
    """As when the engine is gone, and the kernel has not killed it."""
    process = worker.process(go_on)
    for session in process._sessions:
        session.channel.socket.shutdown(socket.SHUT_RDWR)
    process._control.socket.shutdown(socket.SHUT_RDWR)
    assert process.how_it_ended() == "exit status 0"


def test_an_interrupt_is_not_the_workers_business(worker: Worker) -> None:
    process = worker.process(go_on)
    os.killpg(process.pid, signal.SIGINT)
    time.sleep(0.2)
    assert process._process.poll() is None


def test_faults_are_counted_once_for_all_sessions(worker: Worker) -> None:
    first = worker.process(go_on)
    worker.fault(first, "one")
    worker.fault(first, "the same")
    second = worker.process(go_on)
    assert worker.faults == ["one"] and second.pid != first.pid
    worker.fault(second, "")
    third = worker.process(go_on)
    assert worker.faults == ["one"], "stopped at our wish"
    worker.fault(third, "two")
    wait_for(lambda: worker.out_of_service)
    assert worker.out_of_service == "out of service after 2 faults, the last: two"
    with pytest.raises(DeviceError) as caught:
        worker.process(go_on)
    assert caught.value.code == "HD415"


def test_processes_that_were_replaced_leave_no_descriptor(worker: Worker) -> None:
    worker.process(go_on)
    gc.collect()
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        worker.fault(worker.process(go_on), "")
    worker.process(go_on)
    wait_for(lambda: len(os.listdir("/proc/self/fd")) <= before)


def test_what_a_worker_wrote_to_stderr_is_told(worker: Worker, tmp_path: Path) -> None:
    """A message that is no message: a fault of ours, of which the worker dies with a traceback."""
    process = worker.process(go_on)
    with process.session(0) as session:
        session.channel.send(OpenGpu(9))
    assert process.how_it_ended().startswith("exit status 70: Traceback") and "AssertionError" in process.how_it_ended()


def test_a_task_for_a_module_that_is_not_there_leaves_the_worker_alive(worker: Worker, tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"a\n")
    spec = MapSpec(FilterCommand(["/bin/true"]), tmp_path / "in", tmp_path / "out", tmp_path / "index", work_dir=tmp_path)
    device = WorkerDevice(worker, 1)
    for _ in range(2):
        result = device.map_task(spec, CALL, None)
        assert result.status in (TaskStatus.RUN_ON_CPU, TaskStatus.DEVICE_FAILED) and "/m.so" in result.message


@pytest.mark.parametrize("text", ["import sys; sys.exit(3)", "import os; os.kill(os.getpid(), 11)"])
def test_a_worker_that_cannot_start_is_not_started_for_ever(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str,
) -> None:
    (tmp_path / "broken_worker.py").write_text(text)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(worker_spawn, "MODULE", "broken_worker")
    worker = Worker("emulated", 1, Limits(faults=2))
    worker.start()
    with pytest.raises(DeviceError, match="out of service after 2 faults, the last: its worker process ended at its start"):
        worker.survey()
    assert closed(worker) and len(worker.faults) == 2


def test_a_worker_that_says_nothing_is_not_waited_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "silent_worker.py").write_text("import time; time.sleep(600)")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(worker_spawn, "MODULE", "silent_worker")
    monkeypatch.setattr(worker_process, "START_SECONDS", 0.5)
    worker = Worker("emulated", 1, Limits(faults=1))
    worker.start()
    with pytest.raises(DeviceError, match="its worker process did not start within"):
        worker.survey()
    assert closed(worker)


def test_no_process_can_be_had(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(kind: str, sessions: int, number: int | None) -> Spawned:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(worker_client, "spawn", none)
    worker = Worker("emulated", 1)
    worker.start()
    with pytest.raises(DeviceError, match="no worker process can be started: .*temporarily unavailable"):
        worker.survey()
    assert closed(worker)


def test_a_fault_of_the_watcher_lets_nobody_wait_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(kind: str, sessions: int) -> WorkerProcess:
        raise ZeroDivisionError

    monkeypatch.setattr(worker_client, "WorkerProcess", broken)
    monkeypatch.setattr(threading, "excepthook", lambda arguments: None)
    worker = Worker("emulated", 1)
    worker.start()
    with pytest.raises(DeviceError, match="the thread that watches it has ended"):
        worker.survey()


class ScriptedWorker:
    """A worker whose session is answered by the test."""

    kind = "emulated"
    limits = Limits(hang_seconds=0.3)
    out_of_service = ""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        self.session_ = SessionChannel(Channel(ours), native_abi.ProgressBlock())
        self.theirs = Channel(theirs)
        self.told: list[str] = []
        self.turns = Turns()
        self.killed = False
        self.others_do: Callable[[], object] = tuple
        self.requests: list[RunTask] = []

    def process(self, check) -> ScriptedWorker:
        check()
        return self

    def session(self, number: int):
        return worker_process.WorkerProcess.session(self, number)  # type: ignore[arg-type]

    @property
    def _sessions(self) -> list[SessionChannel]:
        return [self.session_]

    def others(self, number: int) -> object:
        assert number == 0
        return self.others_do()

    def kill(self) -> None:
        self.theirs.socket.shutdown(socket.SHUT_RDWR)

    def how_it_ended(self) -> str:
        return "killed by SIGKILL"

    def was_killed(self) -> bool:
        return self.killed

    def fault(self, process: object, why: str) -> None:
        self.told.append(why)

    def serve(self, *replies: Reply | None) -> threading.Thread:
        """Answer one request after the other; None: with the end."""

        def run() -> None:
            for reply in replies:
                request, _ = self.theirs.receive()
                assert isinstance(request, RunTask)
                self.requests.append(request)
                if reply:
                    self.theirs.send(reply)
                else:
                    self.kill()

        thread = threading.Thread(target=run)
        thread.start()
        return thread


def device_of(worker: ScriptedWorker) -> WorkerDevice:
    return WorkerDevice(worker, 0)  # type: ignore[arg-type]


def test_kernels_and_live_ins_are_sent_once(scripted: ScriptedWorker) -> None:
    other = KernelCall(CALL.code, LiveIns(b"others"))
    device = device_of(scripted)
    thread = scripted.serve(*[Reply(OK, {})] * 4)
    for map, combine in ((CALL, None), (CALL, None), (CALL, CALL), (other, CALL)):
        assert device.map_task(SPEC, map, combine) == OK
    thread.join()
    assert [request.calls for request in scripted.requests] == [(CALL, None), None, (CALL, CALL), (other, CALL)]


def test_counts_of_a_process_that_is_gone_stay(scripted: ScriptedWorker) -> None:
    device = device_of(scripted)
    thread = scripted.serve(Reply(OK, {"sub_splits": 3}), Reply(OK, {"sub_splits": 5}), Reply(OK, {"sub_splits": 1}))
    device.map_task(SPEC, CALL, None)
    device.map_task(SPEC, CALL, None)
    assert device.stats() == {"sub_splits": 5}
    scripted.session_ = SessionChannel(scripted.session_.channel, scripted.session_.block)  # of the next process
    device.map_task(SPEC, CALL, None)
    thread.join()
    assert device.stats() == {"sub_splits": 6}


def test_a_session_s_tasks_before_the_device_are_not_its_own(scripted: ScriptedWorker) -> None:
    thread = scripted.serve(Reply(OK, {"sub_splits": 3}), Reply(OK, {"sub_splits": 5}))
    device_of(scripted).map_task(SPEC, CALL, None)
    later = device_of(scripted)
    later.map_task(SPEC, CALL, None)
    thread.join()
    assert later.stats() == {"sub_splits": 2}


def test_a_process_that_ends_in_a_task_is_a_failed_device(scripted: ScriptedWorker) -> None:
    thread = scripted.serve(None)
    result = device_of(scripted).map_task(SPEC, CALL, None)
    thread.join()
    assert result.status is TaskStatus.DEVICE_FAILED and result.seconds["total"] > 0
    assert result.message == "the emulated device failed: its worker process ended: killed by SIGKILL"
    assert scripted.told == ["its worker process ended: killed by SIGKILL"]


def test_a_failed_device_makes_a_new_process(scripted: ScriptedWorker) -> None:
    failed = OK.__class__(TaskStatus.DEVICE_FAILED, None, None, None, "illegal address", {}, {}, {}, "", "")
    thread = scripted.serve(Reply(failed, {}))
    assert device_of(scripted).map_task(SPEC, CALL, None) == failed
    thread.join()
    assert scripted.told == ["illegal address"]


def test_a_task_without_progress_hangs_and_one_with_progress_does_not(scripted: ScriptedWorker) -> None:
    device, begun = device_of(scripted), time.monotonic()
    stop = threading.Event()

    def move() -> None:
        while not stop.wait(0.05):
            scripted.session_.block.bytes_in += 1
            if time.monotonic() - begun > 1.0:
                return

    mover = threading.Thread(target=move)
    mover.start()
    result = device.map_task(SPEC, CALL, None)
    stop.set()
    mover.join()
    assert result.status is TaskStatus.DEVICE_FAILED and "it made no progress for 0.3" in result.message
    assert time.monotonic() - begun > 1.2


def test_a_task_may_wait_for_the_kernels_of_another(scripted: ScriptedWorker) -> None:
    device, begun = device_of(scripted), time.monotonic()
    scripted.others_do = time.monotonic
    result = device.map_task(SPEC, CALL, None)
    assert result.status is TaskStatus.DEVICE_FAILED and time.monotonic() - begun > 0.9
    assert "it made no progress for 0.9" in result.message or "for 1" in result.message


def test_the_users_own_programs_may_take_their_time(scripted: ScriptedWorker) -> None:
    device = device_of(scripted)

    def combine() -> None:
        scripted.theirs.receive()
        scripted.session_.block.phase = Phase.COMBINE
        time.sleep(1.0)
        scripted.theirs.send(Reply(OK, {}))

    thread = threading.Thread(target=combine)
    thread.start()
    assert device.map_task(SPEC, CALL, None) == OK
    thread.join()


def test_a_task_that_does_not_stop_is_killed(scripted: ScriptedWorker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_watch, "CANCEL_SECONDS", 0.3)
    device, progress = device_of(scripted), Progress()
    device.hang_seconds = 60
    timer = threading.Timer(0.1, progress.cancel)
    timer.start()
    result = device.map_task(SPEC, CALL, None, progress)
    timer.join()
    assert result.status is TaskStatus.CANCELLED and scripted.told == [""] and scripted.session_.block.cancel == 1


def test_a_task_that_was_stopped_before_is_not_begun(scripted: ScriptedWorker) -> None:
    progress = Progress()
    progress.cancel()
    assert device_of(scripted).map_task(SPEC, CALL, None, progress).status is TaskStatus.CANCELLED
    assert scripted.requests == []
