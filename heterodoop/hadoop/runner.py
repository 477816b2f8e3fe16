"""Jobs of a cluster as a `Runner` (job/runner.py): submit, follow, say how it ended."""

from __future__ import annotations

import contextlib
import sys

from ..engine.terminal.progress import make_display
from ..job.runner import JobEnd, Shown
from ..job.spec import JobSpec
from .job import told
from .job.follow import SUCCEEDED
from .rounds.iterate import Iterated
from .submit import submission
from .submit.job_options import SubmitOptions


class HadoopRunner:
    """options: what a job has here alone. kill_on_exit: an interrupt kills the job, else it goes on."""

    def __init__(self, options: SubmitOptions, *, kill_on_exit: bool = False) -> None:
        self._options, self._kill = options, kill_on_exit

    def run(self, spec: JobSpec, shown: Shown) -> JobEnd:
        """As `Runner.run`; raises as `submission.plan` and `run`, or `Iterated`."""
        return self._rounds(spec, shown) if spec.again else self._once(spec, shown)

    def line(self, spec: JobSpec, shown: Shown, *, background: bool) -> str:
        """The command that submits a job, or the first round of one, for a shell. No server is asked."""
        if not spec.again:
            plan = submission.plan(spec, self._options, shown.say, dry=True)
            shown.warn(plan.warnings)
            return plan.line(background=background)
        with contextlib.closing(Iterated(spec, self._options, shown.say, dry=True)) as job:
            shown.warn(job.warnings)
            return job.line()

    def submit(self, spec: JobSpec, shown: Shown) -> str:
        """Submit a job and leave it alone; returns its id. Raises as `submission.plan` and `submit`."""
        plan = submission.plan(spec, self._options, shown.say, dry=False)
        shown.warn(plan.warnings)
        return submission.submit(plan)

    def _once(self, spec: JobSpec, shown: Shown) -> JobEnd:
        plan = submission.plan(spec, self._options, shown.say, dry=False)
        shown.warn(plan.warnings)
        display = make_display(sys.stderr, quiet=not shown.progress)
        ended = submission.run(plan, display, shown.say, kill_on_exit=self._kill)
        lost = submission.lost(plan, ended)
        if ended.state == SUCCEEDED:
            summary = told.summary(ended, submission.sentences(plan, ended))
            return JobEnd(told.report(ended, spec.output, None), _result(spec), lost, summary)
        cause, failure = submission.failure(plan.hadoop.conf, ended)
        return JobEnd(told.report(ended, spec.output, cause), _result(spec), lost, failure=failure)

    def _rounds(self, spec: JobSpec, shown: Shown) -> JobEnd:
        with contextlib.closing(Iterated(spec, self._options, shown.say, dry=False)) as job:
            shown.warn(job.warnings)
            done = job.run(shown, kill_on_exit=self._kill)
        cause, failure = done.failure or (None, None)
        report = {**told.report(done.ended, spec.output, cause), "iterate": done.iterate}
        return JobEnd(report, _result(spec), done.warnings, failure=failure)


def _result(spec: JobSpec) -> str:
    return f"result in {spec.output}"
