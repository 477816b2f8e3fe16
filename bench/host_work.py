"""The host's own work for one sub-split of a map task, with a device that does nothing.

    python -m bench.host_work [--sub-splits 32] [--sub-split 256k] [--runs 5] [--only wordcount,sorted,grep,paper]

A task runs on the emulated device, which is recorded; then the same task runs again on a device that gives the host the
recorded answers and does nothing else (device_probe.cpp). The time is the processor time of the thread that runs the
task: the threads that read the input work beside it. A sub-split's share is the difference of a task with N sub-splits and
one with 2 N. Needs no GPU.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from heterodoop import manifest
from heterodoop.executor.kernel import emulated, gpu_task
from heterodoop.executor.kernel.native_device import DeviceOptions
from heterodoop.executor.kernel.prologue import Prologues
from heterodoop.executor.native.runtime import Native, Progress
from heterodoop.executor.task.cpu_task import by_filters
from tests.on_gpu import probe

from . import data, device_task, measure
from . import gpu_task as gpu_tasks

PASS, RECORD, REPLAY = range(3)
PARTS = {
    "wordcount": ("wordcount", (), ()),
    "sorted": ("wordcount", ("--no-opt", "hash-fold"), ()),
    "grep": ("grep", (), ("grep.pattern=the",)),
    "paper": ("wordcount", ("--opt", "paper"), ()),
}


class Work(NamedTuple):
    """Processor seconds of a task that has so many sub-splits."""

    sub_splits: int
    seconds: float


class Bench(NamedTuple):
    bench: gpu_tasks.Bench
    library: Path
    sub_split: int
    runs: int

    def work(self, part: str, sub_splits: int) -> Work:
        app, options, settings = PARTS[part]
        bundle = self.bench.bundle(app, *options)
        text = data.cached(sub_splits * self.sub_split, 1)
        code = emulated.device_code(bundle, manifest.load(bundle), print)
        assert code is not None
        native = self.bench.tasks.native
        run = self.bench.tasks.prepared(bundle, device_task.Work(text, settings=settings), part)
        mode = ctypes.CDLL(str(self.library)).hd_probe_mode
        device = emulated.EmulatedDevice(
            native, emulated.runtime_module(), DeviceOptions(sub_split=self.sub_split), library=self.library)
        with closing(device):
            seconds = []
            for now in (PASS, RECORD, *[REPLAY] * self.runs):
                run.out.unlink(missing_ok=True)
                run.index.unlink(missing_ok=True)
                mode(now)
                before, done = time.thread_time(), device.stats()["sub_splits"]
                result = gpu_task.run_map(device, code, Prologues(native), by_filters(native), run, Progress())
                seconds.append(time.thread_time() - before)
                assert not result.failure and not result.reason, result
                made = device.stats()["sub_splits"] - done
        return Work(made, statistics.median(seconds[2:]))


def rows(bench: Bench, parts: list[str], sub_splits: int) -> Iterator[str]:
    for part in parts:
        one, two = bench.work(part, sub_splits), bench.work(part, 2 * sub_splits)
        each = (two.seconds - one.seconds) / (two.sub_splits - one.sub_splits)
        rest = one.seconds - each * one.sub_splits
        yield f"| {part} | {one.sub_splits} and {two.sub_splits} | {each * 1e3:.3f} | {rest * 1e3:.2f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sub-splits", type=int, default=32)
    parser.add_argument("--sub-split", type=data.parse_size, default="256k")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", type=lambda text: text.split(","), default=",".join(PARTS), help=", ".join(PARTS))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="host-work-") as folder:
        common = gpu_tasks.Bench(device_task.Tasks(Native.load(), Path(folder)), "emulated", 1)
        bench = Bench(common, probe.build(Path(folder)), options.sub_split, options.runs)
        print("| task | sub-splits | ms each | ms besides |\n|---|---:|---:|---:|")
        for row in rows(bench, options.only, options.sub_splits):
            print(row, flush=True)
    facts = {**measure.machine(), "command": measure.command()}
    print("\n" + "".join(f"- {name}: {value}\n" for name, value in facts.items()), end="")


if __name__ == "__main__":
    os.environ.pop("HD_PROBE_BASE", None)
    main()
