"""GPU tasks of one app, warm, on a device that stays open: the parts `task`, `items` and `long-line`."""

from __future__ import annotations

import filecmp
from dataclasses import dataclass, field, replace
from pathlib import Path

from .. import app_inputs, data
from ..device_task import OpenDevice, TaskFailed, Tasks, Timed, Work
from . import inputs
from .bundles import WITHOUT, Bundles, same_kernels
from .options import MIB, Options
from .state import Record
from .steps import WHOLE_SET

PROBE = 16 * MIB
SIZES = (64 * MIB, 256 * MIB, 1024 * MIB)
# One run takes no longer, or the input is made smaller. The default set's may: it is what the bars are about.
DEFAULT_SECONDS, TASK_SECONDS, ITEM_SECONDS = 10.0, 4.0, 1.0
BUDGET_SECONDS = 10.0  # of all runs that count
CHECK_SECONDS = 3.0  # of the CPU's run that outputs are compared with
LONG_LINE = 2_700_000  # bytes: the Netflix Prize's longest


@dataclass
class DeviceParts:
    """`cpu_rate`: bytes per second of one core, as far as known (sizes what outputs are compared on)."""

    tasks: Tasks
    bundles: Bundles
    opened: OpenDevice
    options: Options
    app: str
    cpu_rate: float
    _checked: Work | None = field(default=None, init=False)

    def task(self, name: str) -> Record:
        """A configuration of Fig. 5, its output compared with the CPU's on a small part."""
        work, bundle = inputs.fed(self.app, self.options), self.bundles.get(self.app, name)
        compared = self._compare(bundle, work)
        size = self._fitting(bundle, work, DEFAULT_SECONDS if name == "default" else TASK_SECONDS)
        timed = self._timed(bundle, replace(work, length=size), self.options.runs)
        return {**_record(timed), **compared, "wanted_bytes": work.size, "wanted_runs": self.options.runs}

    def item(self, name: str, whole_size: int) -> Record:
        """The paper's set, or the set without one item over as many bytes as the set itself had."""
        work, whole = inputs.fed(self.app, self.options), self.bundles.get(self.app, WHOLE_SET)
        bundle = whole
        if name != WHOLE_SET:
            bundle = self.bundles.get(self.app, f"{WITHOUT}{name}")
            if same_kernels(whole, bundle, name):
                return {"no_effect": True, "bytes": whole_size}
        most = min(work.size, self.options.size(256 * MIB))
        size = whole_size or self._fitting(bundle, replace(work, length=most), ITEM_SECONDS)
        return _record(self._timed(bundle, replace(work, length=size), self.options.item_runs))

    def long_line(self, name: str) -> Record:
        """A movie file whose first line has 2.7 MB, and the same kind of file without it."""
        bundle, size = self.bundles.get(self.app, "default"), self.options.size(256 * MIB)
        kind = app_inputs.INPUTS[self.app].kind
        line = min(LONG_LINE, size // 4)
        if name == "without":
            text = data.cached(size, inputs.SEED, self.options.data, kind)
        else:
            text = self.options.data / f"{kind}-{size}-long-line-{line}.txt"
            if not text.exists():
                arguments = (str(line), *data.KINDS[kind].arguments[1:])
                data.generate(text, size, inputs.SEED, kind=kind, arguments=arguments, scratch=self.options.data)
        timed = self._timed(bundle, Work(text), self.options.runs)
        return {**_record(timed), "longest_line": line if name == "with" else 0}

    def _timed(self, bundle: Path, work: Work, runs: int) -> Timed:
        return self.tasks.on_device(self.opened, bundle, work, runs, budget=BUDGET_SECONDS)

    def _fitting(self, bundle: Path, work: Work, most: float) -> int:
        """The largest size whose run is expected to take `most` seconds at the most. Small tasks say little of large ones: a
        long line, or starting a kernel, takes the same in all. So larger ones are tried while they are expected to fit."""
        size, warm_up = min(work.size, self.options.size(PROBE)), 1
        larger = [s for s in (min(work.size, self.options.size(s)) for s in SIZES) if s > size]
        for following in dict.fromkeys(larger):
            timed = self.tasks.on_device(self.opened, bundle, replace(work, length=size), 1, warm_up=warm_up)
            rate = timed.size / timed.seconds
            if work.size / rate <= most:
                return work.size
            if following / rate > most:
                return size
            size, warm_up = following, 0
        return size

    def _compare(self, bundle: Path, work: Work) -> Record:
        """The CPU runs once for all configurations: no option of the compiler changes what it gives."""
        if self._checked is None:
            size = int(min(self.options.size(PROBE), max(64 << 10, CHECK_SECONDS * self.cpu_rate)))
            self._checked = replace(work, length=size)
            self.tasks.on_cpu(self.bundles.get(self.app, "default"), self._checked)
        timed = self.tasks.on_device(self.opened, bundle, self._checked, 1, warm_up=0)
        other = self.tasks.scratch / "task-cpu" / timed.out.name
        if not filecmp.cmp(timed.out, other, shallow=False):
            raise TaskFailed(f"its output for {timed.size} bytes is not the CPU's")
        return {"compared_bytes": timed.size}


def _record(timed: Timed) -> Record:
    return {"bytes": timed.size, "seconds": timed.seconds, "runs": list(timed.runs), "stages": timed.stages}
