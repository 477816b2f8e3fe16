"""One map task outside of a job, on a device that stays open or on the CPU: what gpu_task.py and figures/ time.

A task reads its split from the page cache and writes its output file. Not here: what is run and what is made of the
seconds.
"""

from __future__ import annotations

import shutil
import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from heterodoop import manifest
from heterodoop.engine.job.layout import Layout
from heterodoop.engine.run.plan import Plan, RunOptions, make_plan
from heterodoop.executor.kernel import cuda, emulated, gpu_task
from heterodoop.executor.kernel.native_device import NativeDevice
from heterodoop.executor.kernel.prologue import Prologues
from heterodoop.executor.native.runtime import Native, Progress
from heterodoop.executor.task import cpu_task
from heterodoop.executor.task.report import AttemptResult
from heterodoop.executor.task.streaming_env import TaskNames
from heterodoop.job.spec import JobSpec
from heterodoop.toolchain import nvcc

WHOLE = 1 << 62
LONG_SECONDS = 0.5


class TaskFailed(Exception):
    """A task did not end as it must for its time to mean anything: it failed, or the CPU did what was a device's."""


@dataclass(frozen=True)
class Work:
    """What a map task gets: the first `length` bytes of a text, settings (`key=value`) and side files (`PATH#NAME`)."""

    text: Path
    length: int = WHOLE
    settings: tuple[str, ...] = ()
    files: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        return min(self.length, self.text.stat().st_size)


@dataclass(frozen=True)
class Timed:
    """A task's runs that count, in seconds; `stages` (seconds by name) and `result` are of the median one."""

    size: int
    runs: tuple[float, ...]
    result: AttemptResult
    out: Path
    stages: dict[str, float] = field(default_factory=dict)

    @property
    def seconds(self) -> float:
        return statistics.median(self.runs)


@dataclass(frozen=True)
class OpenDevice:
    """A device and the architecture it takes kernels of; "" for the emulated one."""

    device: NativeDevice
    arch: str


@dataclass(frozen=True)
class CudaFiles:
    """libhd_cuda and the runtime's kernels, made for one architecture."""

    library: Path
    runtime: Path


@dataclass(frozen=True)
class Tasks:
    """Runs tasks in `scratch`; a second one of a side ("device", "cpu") replaces the first one's files."""

    native: Native
    scratch: Path

    @contextmanager
    def opened(self, device: str, files: CudaFiles | None = None) -> Iterator[OpenDevice]:
        """`device`: "cuda" (the first GPU; `files` None: they are built where the cache has none) or "emulated"."""
        if device == "emulated":
            with closing(emulated.EmulatedDevice(self.native, emulated.runtime_module())) as emulator:
                yield OpenDevice(emulator, "")
            return
        arch = nvcc.of_this_machine()[0]
        if files is None:
            library, runtimes = cuda.device_library([arch])
            files = CudaFiles(library, runtimes[arch])
        with closing(cuda.CudaDevice(self.native, files.runtime, library=files.library)) as gpu:
            yield OpenDevice(gpu, arch)

    def on_device(
        self, opened: OpenDevice, bundle: Path, work: Work, runs: int, *, warm_up: int = 2, budget: float = float("inf"),
    ) -> Timed:
        """`runs` runs after those that warm up; fewer, but one, where those that count have taken `budget` seconds. A run of
        half a second and more needs no second one to warm up.

        Raises TaskFailed.
        """
        run, found = self.prepared(bundle, work, "device"), manifest.load(bundle)
        said: list[str] = []
        code = (cuda.device_code(bundle, found, opened.arch) if opened.arch else
                emulated.device_code(bundle, found, said.append))
        if code is None:
            why = "".join(f": {text}" for text in said)
            raise TaskFailed(f"{bundle.name} has no kernels for {opened.arch or 'the emulated device'}{why}")
        prologues = Prologues(self.native)
        taken: list[tuple[float, AttemptResult]] = []
        while len(taken) < warm_up + runs and (len(taken) <= warm_up or sum(s for s, _ in taken[warm_up:]) < budget):
            if len(taken) == 1 and taken[0][0] > LONG_SECONDS:
                warm_up = min(warm_up, 1)
            for made in (run.out, run.index):  # as in a job; some file systems flush a file that is replaced
                made.unlink(missing_ok=True)
            begin = time.perf_counter()
            result = gpu_task.run_map(opened.device, code, prologues, cpu_task.by_filters(self.native), run, Progress())
            taken.append((time.perf_counter() - begin, result))
            _check(result)
        return _timed(work, taken[warm_up:], run.out)

    def on_cpu(self, bundle: Path, work: Work) -> Timed:
        """One run. Raises TaskFailed."""
        run = self.prepared(bundle, work, "cpu")
        begin = time.perf_counter()
        result = cpu_task.run_map(self.native, run.job, run.split, run.place, run.out, run.index, Progress())
        seconds = time.perf_counter() - begin
        _check(result)
        return _timed(work, [(seconds, result)], run.out)

    def prepared(self, bundle: Path, work: Work, side: str) -> cpu_task.MapRun:
        """A task with folders of its own, which are new."""
        options = RunOptions(split_size=1 << 40, settings=work.settings, files=work.files, device="cpu")
        layout = Layout(self.scratch / "out")
        spec = JobSpec.of(bundle, [str(work.text)], str(layout.output), options)
        plan: Plan = make_plan(spec, layout, options)
        split = plan.splits[0]._replace(length=work.size)
        folder = self.scratch / f"task-{side}"
        shutil.rmtree(folder, ignore_errors=True)
        for name in ("work", "tmp", "out"):
            (folder / name).mkdir(parents=True)
        for name, path in plan.files:
            (folder / "work" / name).symlink_to(path)
        names = TaskNames(plan.job_id, True, 0, 0, folder / "out", folder / "tmp", split)
        place = cpu_task.Place(folder / "work", folder / "tmp", folder / "log", names)
        return cpu_task.MapRun(plan.cpu, split, place, folder / "file.out", folder / "index")


def _check(result: AttemptResult) -> None:
    if result.failure:
        raise TaskFailed(result.failure.message)
    if result.reason:
        raise TaskFailed(f"the CPU did it: {result.reason}")


def _timed(work: Work, taken: Sequence[tuple[float, AttemptResult]], out: Path) -> Timed:
    seconds, result = sorted(taken, key=lambda pair: pair[0])[(len(taken) - 1) // 2]
    stages = {name: s for name, s in result.seconds.items() if s >= 1e-4 and name != "total"}
    return Timed(work.size, tuple(s for s, _ in taken), result, out, stages)
