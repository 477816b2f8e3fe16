"""Whether a job's inputs are what they were when it was planned."""

from __future__ import annotations

from ...errors import JobFailed
from ...executor.task.cpu_task import changed_input
from .plan import Plan


def check_inputs(plan: Plan, number: int | None = None) -> None:
    """Raises JobFailed HD049: a file is another one now, or is not there.

    number  the map task whose file is looked at; None: all files. One may change after its last task: the output would be
            of files that were never there together.
    """
    splits = plan.splits if number is None else plan.splits[number : number + 1]
    if changed := changed_input(splits):
        raise JobFailed(changed.message, code=changed.code)
