"""Jobs on this machine: the embedded engine as a `Runner` (job/runner.py)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..job.runner import JobEnd, Shown
from ..job.spec import JobSpec
from .devices import map_sides
from .rounds.iterate import run_iterated
from .run.local import run_job
from .run.plan import RunOptions

if TYPE_CHECKING:
    from .devices.devices import DeviceSource


class LocalRunner:
    """options: what a job has here alone. devices: where map tasks may run; lasting ones for rounds; None: on the CPU."""

    def __init__(self, options: RunOptions, devices: DeviceSource | None) -> None:
        self._options, self._devices = options, devices

    def run(self, spec: JobSpec, shown: Shown) -> JobEnd:
        """As `Runner.run`; raises as `run_job` and `run_iterated`."""
        options = self._options._replace(quiet=not shown.progress)
        if spec.again:
            done = run_iterated(spec, options, devices=self._devices, tell=shown.tell)
        else:
            done = run_job(spec, options, devices=self._devices)
        result = f"result in {done.output}, report in {done.report_folder}"
        return JobEnd(done.report, result, done.warnings, map_sides.lines(done.report))
