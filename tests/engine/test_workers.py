"""Jobs whose devices are worker processes (of the emulated device): faults at any moment, the same bytes, nothing left.

A GPU's worker differs in what it opens only.
"""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from heterodoop.engine import devices, local
from heterodoop.engine.devices import DeviceSource
from heterodoop.engine.local import JobResult, run_local
from heterodoop.engine.plan import RunOptions
from heterodoop.errors import ToolError, UsageError
from heterodoop.executor import gpus, worker_client
from heterodoop.executor.native import Phase
from heterodoop.executor.worker_process import WorkerProcess
from heterodoop.manifest import FILE, load, sha256

from ..cases.processes import Watched, start_watched
from ..support import ROOT, Bundles, cli_here
from .conftest import parts

APP = ROOT / "apps" / "wordcount"
SAMPLE = (APP / "sample.txt").read_bytes()[:60_000]
WORKERS = "heterodoop.emulated.workers="
# Pieces so small that a task lasts for as long as a test needs to strike in the middle of it.
SLOW = "heterodoop.gpu.sub-split.bytes=200"
pytestmark = pytest.mark.usefixtures("kernel_cache")
Run = Callable[..., JobResult]


@pytest.fixture
def app(bundles: Bundles) -> Path:
    return bundles.get(*((APP / f"{role}.c").read_text() for role in ("map", "combine", "reduce")))


@pytest.fixture
def source(tmp_path: Path) -> Path:
    (tmp_path / "in.txt").write_bytes(SAMPLE)
    return tmp_path / "in.txt"


@pytest.fixture
def job(app: Path, source: Path, tmp_path: Path) -> Run:
    """A job of several map tasks; after it no process of a worker may be left."""

    def go(*settings: str, out: str = "out", device: str = "emulated", bundle: Path = app, **options: object) -> JobResult:
        chosen = RunOptions(quiet=True, device=device, settings=settings, split_size=12_000, cpu_slots=2, reducers=2,
                            **options)  # type: ignore[arg-type]
        result = run_local(bundle, [str(source)], str(tmp_path / out), chosen, devices=DeviceSource())
        assert not children()
        return result

    return go


@pytest.fixture
def expected(job: Run) -> list[bytes]:
    return parts(job(device="cpu", out="expected").output)


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[WorkerProcess]]:
    """Every worker process that the test's job starts, in order."""
    found: list[WorkerProcess] = []

    def start(kind: str, sessions: int) -> WorkerProcess:
        found.append(WorkerProcess(kind, sessions))
        return found[-1]

    monkeypatch.setattr(worker_client, "WorkerProcess", start)
    yield found


def children() -> list[int]:
    """Processes of workers that live and have this process as parent."""
    found = []
    for entry in os.listdir("/proc"):
        try:
            if entry.isdigit() and f"PPid:\t{os.getpid()}\n" in Path("/proc", entry, "status").read_text():
                if b"heterodoop.executor.worker" in Path("/proc", entry, "cmdline").read_bytes():
                    found.append(int(entry))
        except OSError:
            pass
    return found


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


def codes(result: JobResult) -> list[str]:
    return [warning.code for warning in result.warnings]


def ran_on(result: JobResult) -> dict[str, int]:
    return result.report["device"]["map_tasks"]


@pytest.mark.parametrize("workers", [1, 2])
def test_a_job_on_workers_has_the_same_bytes(job: Run, expected, started, workers: int) -> None:
    result = job(f"{WORKERS}{workers}")
    assert parts(result.output) == expected and result.warnings == ()
    assert ran_on(result) == {"emulated": 5} and result.report["device"]["sub_splits"] == 5
    ends = [process.how_it_ended() for process in started]  # one that was not ready in time is killed
    assert len(ends) == workers and "exit status 0" in ends and set(ends) <= {"exit status 0", "killed by SIGKILL"}


MOMENTS = {
    "while it starts": lambda process: True,
    "before a piece is done": working(Phase.START),
    "in the middle": working(Phase.FILTER, 2000),
    "at the end": working(Phase.FINISH),
}


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_worker_that_is_killed_is_replaced(job: Run, expected, started, moment: str) -> None:
    thread = strike(started, 0, MOMENTS[moment], signal.SIGKILL)
    result = job(f"{WORKERS}1", SLOW)
    thread.join()
    assert parts(result.output) == expected and ran_on(result) == {"emulated": 5} and len(started) == 2
    (warning,) = result.warnings
    assert warning.code == "HD416" and "GPU 0 (emulated) failed once, and was used again" in warning.message
    assert "killed by SIGKILL" in warning.message
    rows = (result.report_folder / "attempts.jsonl").read_text().splitlines()
    retried = [json.loads(row).get("retried", "") for row in rows]
    assert any("killed by SIGKILL" in why for why in retried) == (moment != "while it starts")


def test_a_task_whose_workers_die_twice_runs_on_the_cpu(job: Run, expected, started) -> None:
    threads = [strike(started, number, working(Phase.START), signal.SIGKILL) for number in range(2)]
    result = job(f"{WORKERS}1", SLOW, "heterodoop.gpu.sessions=1")
    for thread in threads:
        thread.join()
    assert parts(result.output) == expected and ran_on(result) == {"cpu": 1, "emulated": 4}
    assert codes(result) == ["HD416", "HD410"] and len(started) == 3
    (left,) = result.report["device"]["left_to_cpu"]
    assert "the emulated device failed: its worker process ended: killed by SIGKILL" in left["reason"]


def test_after_some_faults_a_gpu_is_out_of_service(job: Run, expected, started) -> None:
    threads = [strike(started, number, working(Phase.START), signal.SIGKILL) for number in range(3)]
    result = job(f"{WORKERS}1", SLOW)
    for thread in threads:
        thread.join()
    assert parts(result.output) == expected and ran_on(result) == {"cpu": 5} and len(started) == 3
    assert codes(result)[0] == "HD415" and set(codes(result)[1:]) == {"HD410"}
    assert "GPU 0 (emulated) is out of service after 3 faults, the last: its worker" in result.warnings[0].message


def test_the_other_gpu_goes_on(job: Run, expected, started) -> None:
    thread = strike(started, 0, working(Phase.START), signal.SIGKILL)
    result = job(f"{WORKERS}2", SLOW, "heterodoop.gpu.faults=1")
    thread.join()
    assert parts(result.output) == expected and codes(result)[0] == "HD415" and len(started) == 2
    assert ran_on(result)["emulated"] >= 1


def test_a_worker_that_stands_still_is_found(job: Run, expected, started) -> None:
    thread = strike(started, 0, working(Phase.FILTER, 1000), signal.SIGSTOP)
    result = job(f"{WORKERS}1", SLOW, "heterodoop.gpu.hang.seconds=1")
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


def test_a_kernel_that_never_ends_is_found(app, job: Run, expected, started, tmp_path: Path) -> None:
    result = job(f"{WORKERS}1", "heterodoop.gpu.hang.seconds=1", "heterodoop.gpu.faults=2", bundle=endless(app, tmp_path))
    assert parts(result.output) == expected and ran_on(result) == {"cpu": 5}
    assert codes(result)[0] == "HD415" and "made no progress for 1" in result.warnings[0].message


def test_a_job_that_fails_takes_its_workers_along(job: Run, started, monkeypatch) -> None:
    def broken(*arguments: object) -> None:
        raise OSError("a bug of the engine")

    monkeypatch.setattr(local.AttemptRunner, "commit", broken)
    with pytest.raises(OSError, match="a bug of the engine"):
        job(f"{WORKERS}2")
    assert len(started) == 2 and not children()


def test_a_job_that_is_refused_takes_its_workers_along(app, source, tmp_path, started) -> None:
    options = RunOptions(device="emulated", settings=[f"{WORKERS}1"])
    with pytest.raises(UsageError):
        run_local(app, [str(tmp_path / "none")], str(tmp_path / "out"), options, devices=DeviceSource())
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
def test_no_worker_survives_its_engine(app, source, tmp_path, number: int, status: int) -> None:
    """In the middle of a kernel that never ends, which nobody can stop."""
    bundle = endless(app, tmp_path)
    watched = start_watched(tmp_path, "run", bundle, source, "-o", "out", "--device", "emulated", "-D", f"{WORKERS}1")
    wait_until(lambda: waiting(watched))
    watched.process.send_signal(number)
    out, err = watched.process.communicate(timeout=15)
    assert watched.process.returncode == status, err
    wait_until(lambda: not watched.processes(), 3)
    if number != signal.SIGKILL:
        assert not (tmp_path / "out").exists()


def test_verify_uses_workers_too(app, source, started) -> None:
    done = cli_here("verify", app, source, "--split-size", "30000", "-D", f"{WORKERS}1", "--json")
    found = json.loads(done.out)
    assert (found["equal"], found["different"]) == (2, 0) and len(started) == 1 and not children()


def test_cuda_without_a_gpu(job: Run, monkeypatch) -> None:
    monkeypatch.setattr(gpus, "NODES", ())
    with pytest.raises(ToolError, match="this machine has no GPU") as caught:
        job(device="cuda")
    assert caught.value.code == "HD517"
    with pytest.raises(UsageError, match="--gpus none leaves no GPU for --device cuda"):
        job(device="cuda", gpus="none")


def test_auto_without_a_gpu_says_nothing(job: Run, expected, monkeypatch, started) -> None:
    monkeypatch.setattr(gpus, "NODES", ())
    result = job(device="auto")
    assert parts(result.output) == expected and result.warnings == () and started == []


DRIVER = """
import os
class Error(Exception): pass
def init():
    if os.environ.get("CUDA_VISIBLE_DEVICES") == "":
        raise Error("cuInit failed: no CUDA-capable device is detected")
def get_driver_version(): return int(os.environ.get("FAKE_DRIVER", "13000"))
def mem_get_info(): return int(os.environ.get("FAKE_FREE", str(70 << 30))), 80 << 30
class Context:
    def push(self): pass
    def pop(self): pass
    def detach(self): pass
class Device:
    def __init__(self, number): self.number = number
    @staticmethod
    def count(): return 2
    def name(self): return f"Fake {self.number}"
    def compute_capability(self): return (9, self.number)
    def total_memory(self): return 80 << 30
    def pci_bus_id(self): return "0"
    def retain_primary_context(self): return Context()
"""


@pytest.fixture
def fake_gpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two GPUs of two architectures for worker processes, which no library can drive; kernels for one of them."""
    (tmp_path / "modules" / "pycuda").mkdir(parents=True)
    (tmp_path / "modules" / "pycuda" / "__init__.py").touch()
    (tmp_path / "modules" / "pycuda" / "driver.py").write_text(DRIVER)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "modules"))
    monkeypatch.setattr(gpus, "NODES", (str(tmp_path),))
    module = tmp_path / "libhd_cuda.so"
    code = devices.device_code
    monkeypatch.setattr(devices.cuda, "device_code", lambda b, found, arch: code(b, found) if arch == "sm_90" else None)
    monkeypatch.setattr(devices.cuda, "device_library", lambda archs: (module, dict.fromkeys(archs, module)))


def test_a_gpu_that_cannot_be_driven_is_left_out(job: Run, expected, fake_gpus, started) -> None:
    result = job(device="auto")
    assert parts(result.output) == expected and ran_on(result) == {"cpu": 5} and len(started) == 1
    assert codes(result)[:2] == ["HD417", "HD417"]
    assert result.warnings[0].message == "GPU 1 (Fake 1) is left out: the bundle has no kernels for sm_91"
    assert result.warnings[1].message.startswith("GPU 0 (Fake 0) is left out: the cuda device cannot be opened")


@pytest.mark.parametrize(("name", "value", "why"), [
    ("FAKE_FREE", "1000000", "GPU 0 (Fake 0) is left out: GPU 0 is left out: 0 of 81920 MiB of its memory are free"),
    ("FAKE_DRIVER", "11080", "no GPU is used: no GPU can be used: the driver is of CUDA 11.8, 12.0 or newer is needed"),
    ("CUDA_VISIBLE_DEVICES", "", "no GPU is used: the CUDA driver names no GPU with CUDA_VISIBLE_DEVICES=''"),
])
def test_gpus_that_cannot_be_used_are_named_once(
    job: Run, expected, fake_gpus, monkeypatch, name: str, value: str, why: str,
) -> None:
    monkeypatch.setenv(name, value)
    result = job(device="auto")
    assert parts(result.output) == expected and ran_on(result) == {"cpu": 5}
    assert sum(warning.message.startswith(why) for warning in result.warnings) == 1


def test_a_gpu_that_is_not_there(job: Run, fake_gpus) -> None:
    with pytest.raises(UsageError, match="--gpus 2: the CUDA driver names number 0 to 1"):
        job(device="auto", gpus="2")
    assert not children()


def test_only_gpus_without_kernels(job: Run, expected, fake_gpus) -> None:
    result = job(device="cuda", gpus="1")
    assert parts(result.output) == expected and codes(result) == ["HD417"] and not children()


def test_auto_starts_nothing_where_no_gpu_may_be_used(job: Run, expected, fake_gpus, started) -> None:
    result = job(device="auto", gpus="none")
    assert parts(result.output) == expected and result.warnings == () and started == []


def test_cuda_asked_for_by_name_must_be_there(job: Run, fake_gpus, monkeypatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    with pytest.raises(ToolError, match="the CUDA driver names no GPU with CUDA_VISIBLE_DEVICES=''") as caught:
        job(device="cuda")
    assert caught.value.code == "HD517" and not children()
