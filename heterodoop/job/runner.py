"""What runs a job: the embedded engine (engine/runner.py) or a cluster (hadoop/runner.py).

Commands `run` and `submit` have one body over it (commands/execute.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from ..diag import Diagnostic
from ..errors import JobFailed
from .spec import JobSpec
from .stopping import Round


class Shown(NamedTuple):
    """What a user hears of a job while it runs.

    progress  whether there is a display of it.
    warn      diagnostics. say: a line. tell: a round that is done, also of an earlier call.
    """

    progress: bool
    warn: Callable[[Sequence[Diagnostic]], None]
    say: Callable[[str], None]
    tell: Callable[[Round], None]


class JobEnd(NamedTuple):
    """A job that ended.

    report    for programs; with all rounds as "iterate" where it ran again and again.
    warnings  what there is to say now.
    summary   for people: what a job did that ran once. result: where its result lies.
    failure   why it failed, where there is a report all the same.
    """

    report: Mapping[str, Any]
    result: str
    warnings: Sequence[Diagnostic] = ()
    summary: Sequence[str] = ()
    failure: JobFailed | None = None


class Runner(Protocol):
    """A place where jobs run."""

    def run(self, spec: JobSpec, shown: Shown) -> JobEnd:
        """Run a job to its end, in rounds where it says so. Raises UsageError, Limitation, ToolError (refused before any
        work, or nobody knows how it ended), JobFailed, Interrupted."""
