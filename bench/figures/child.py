"""A process that makes some measurements of one app, one after the other, and saves each at once.

    python -m bench.figures.child REQUEST

REQUEST is JSON (runner.Request). It is a process of its own so that a kernel that breaks its GPU, or hangs, costs one
measurement, and so that a CPU task can be pinned to a core.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from heterodoop.errors import HeteroDoopError
from heterodoop.executor.kernel import cuda
from heterodoop.executor.native.runtime import Native
from heterodoop.toolchain import nvcc

from ..device_task import TaskFailed, Tasks
from . import inputs
from .bundles import Bundles
from .cpu import CpuRate
from .device import DeviceParts
from .job import Jobs
from .requests import CANNOT, Request
from .state import Record, State
from .steps import INGEST, INGEST_APP, WHOLE_SET, Step, expected

UNKNOWN_RATE = 2e6  # bytes per second of a core, where the part `cpu` has not been measured: slow rather than fast
ERRORS = (TaskFailed, HeteroDoopError, OSError, RuntimeError, ValueError)


@dataclass(frozen=True)
class Child:
    request: Request
    state: State
    scratch: Path

    @property
    def app(self) -> str:
        return self.request.app

    def run(self) -> None:
        """Measure until all is done or time is short. Raises one of ERRORS where nothing can be measured at all."""
        options, ends = self.request.options, time.monotonic() + self.request.seconds
        with ExitStack() as stack:
            measure = self._measure(stack)
            for name in self.request.names:
                step = Step(self.app, self.request.part, name)
                if time.monotonic() + expected(step, options, self.state) > ends:
                    return
                self._begin(name)
                begin = time.monotonic()
                try:
                    record = measure(name)
                except ERRORS as error:
                    record = {"failed": str(error)[:1000]}
                record["took"] = round(time.monotonic() - begin, 3)
                self._save(name, record)

    def _measure(self, stack: ExitStack) -> Callable[[str], Record]:
        options, app = self.request.options, self.app
        bundles = Bundles(options.data / "bundles", self.request.arch, options.bundles)
        if self.request.part == "job":
            if options.device == "cuda":
                cuda.device_library(list(nvcc.of_this_machine()))  # else the first job would build it
            if not self._own_filters():
                raise TaskFailed("the part cpu comes first: a job's input is sized by what one core does")
            return Jobs(bundles, self.scratch, options, app, self._core_rate(), self._ingest()).run
        tasks = Tasks(Native.load(), self.scratch)
        if self.request.part == "cpu":
            rate = CpuRate(tasks, bundles, app, inputs.fed(app, options), options.seconds(options.cpu_seconds))
            return lambda name: {**self._cpu(rate, name), "at_a_time": options.cpu_at_a_time}
        opened = stack.enter_context(tasks.opened(options.device, bundles.device() if options.device == "cuda" else None))
        parts = DeviceParts(tasks, bundles, opened, options, app, self._core_rate())
        if self.request.part == "items":
            return lambda name: parts.item(name, self._whole_size(name))
        return parts.task if self.request.part == "task" else parts.long_line

    def _cpu(self, rate: CpuRate, name: str) -> Record:
        if name == "own":
            return rate.own()
        own = self._own_filters()
        if not own:
            raise TaskFailed("the bundle's own filters were not measured")
        return rate.native(own)

    def _own_filters(self) -> Record:
        """What one core does; {} where that was not measured."""
        own = self.state.records(self.app, "cpu").get("own", {})
        return own if "seconds" in own else {}

    def _core_rate(self) -> float:
        own = self._own_filters()
        return float(own["bytes"] / own["seconds"]) if own else UNKNOWN_RATE

    def _whole_size(self, name: str) -> int:
        """Bytes that the paper's set was measured with; 0 = to be found out."""
        whole = self.state.records(self.app, "items").get(WHOLE_SET, {})
        if name != WHOLE_SET and "bytes" not in whole:
            raise TaskFailed("the whole set was not measured")
        return 0 if name == WHOLE_SET else int(whole["bytes"])

    def _ingest(self) -> int:
        """The number of reading threads that made the trial job fastest; 0 where there was none."""
        rows = self.state.records(INGEST_APP, "job").items()
        done = [(name, row) for name, row in rows if name.startswith(INGEST) and "seconds" in row]
        tried = {int(name.removeprefix(INGEST)): row["seconds"] for name, row in done}
        return min(tried, key=lambda n: tried[n], default=0)

    def _begin(self, name: str) -> None:
        """A child that dies leaves the name of what it was at."""
        self.request.marker.write_text(name)

    def _save(self, name: str, record: Record) -> None:
        self.state.put(self.app, self.request.part, name, {**record, **self.request.facts})
        said = record.get("failed") or ("no effect" if record.get("no_effect") else speed(record))
        print(f"  {self.app}, {self.request.part}, {name}: {said} (took {record['took']:.1f} s)", flush=True)


def speed(record: Record) -> str:
    size, seconds = record["bytes"], record["seconds"]
    return f"{size / 2**20:.4g} MiB in {seconds:.4g} s, {size / seconds / 1e6:.4g} MB/s"


def main() -> int:
    request = Request.from_json(sys.argv[1])
    if request.processors:
        os.sched_setaffinity(0, request.processors)
    request.options.data.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="figures-", dir=request.options.data) as scratch:
        try:
            Child(request, State(request.options.state), Path(scratch)).run()
        except ERRORS as error:
            print(f"  {request.app}, {request.part}: nothing could be measured: {error}", file=sys.stderr, flush=True)
            return CANNOT
    return 0


if __name__ == "__main__":
    sys.exit(main())
