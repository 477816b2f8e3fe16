"""What is wrong with how a run ended: the questions that a soak asks of every one."""

from __future__ import annotations

import json
import re
import signal
from pathlib import Path
from typing import NamedTuple

from heterodoop.errors import EXIT_INTERRUPTED

from .jobs import Result
from .processes import Ended

KINDS = {
    "wrong": "wrong output", "lost": "lost pairs", "hang": "hang", "orphan": "orphan process", "leftover": "leftover",
    "healed": "the same command failed afterwards", "looks": "a failed run's output looks complete",
    "traceback": "traceback", "silent": "no clear message", "crash": "died by a signal that nobody sent",
    "report": "report says that it runs",
}
_STOPS = frozenset({signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
_MESSAGE = re.compile(r"^(heterodoop: |Error: )", re.MULTILINE)
_TRACE = re.compile(r"^\s*(Traceback \(most recent call last\)|Exception (ignored )?in )", re.MULTILINE)


class Problem(NamedTuple):
    """kind: a key of KINDS. what: in words."""

    kind: str
    what: str


class Expected(NamedTuple):
    """result: of a run without a fault. killed: signals it may die by. hindered: it was not let remove files."""

    result: Result
    killed: frozenset[int] = frozenset()
    hindered: bool = False


def of_run(ended: Ended, output: Path, expected: Expected) -> list[Problem]:
    """Problems of a run that was struck."""
    problems = [Problem("orphan", name) for name in ended.orphans]
    if _stopped_before_us(ended, output, expected.killed):
        return problems
    if _TRACE.search(ended.err):
        problems.append(Problem("traceback", ended.err[-3000:]))
    if ended.status is None:
        return [*problems, Problem("hang", f"no end after {ended.seconds:.0f} s: {ended.err[-6000:]}")]
    complete = (output / "_SUCCESS").exists()
    if ended.status == 0 and not complete:
        problems.append(Problem("wrong", "exit status 0 and no _SUCCESS"))
    if complete:
        found = of_output(output, expected.result)
        excused = expected.hindered or ended.status == -signal.SIGKILL  # between _SUCCESS and the end of _temporary
        problems += [problem for problem in found if not (excused and problem.kind == "leftover")]
    if complete and ended.status > 0:
        problems.append(Problem("looks", f"exit status {ended.status} and _SUCCESS: {_tail(ended.err)}"))
    return [*problems, *_of_status(ended, output, expected.killed)]


def _stopped_before_us(ended: Ended, output: Path, killed: frozenset[int]) -> bool:
    """Did a signal end Python's own start, before the first line of the product? It says so in its own way, or nothing."""
    started = ended.err.strip() and "Fatal Python error: init_" not in ended.err
    return ended.status == 1 and bool(killed & _STOPS) and not started and not output.exists()


def of_output(output: Path, right: Result) -> list[Problem]:
    """Problems of an output that looks complete."""
    found = Result.read(output)
    others = sorted(path.name for path in output.iterdir() if path.name not in (*right.parts, "_SUCCESS"))
    problems = [Problem("leftover", f"beside the result: {', '.join(others)}")] if others else []
    if found == right:
        return problems
    differ = sorted(name for name in {*found.parts, *right.parts} if found.parts.get(name) != right.parts.get(name))
    kind = "lost" if found.total() < right.total() else "wrong"
    return [*problems, Problem(kind, f"{', '.join(differ)} differ; {found.total()} of {right.total()} words")]


def of_repetition(ended: Ended, output: Path, right: Result) -> list[Problem]:
    """Problems of the same command without a fault."""
    problems = of_run(ended, output, Expected(right))
    if ended.status not in (0, None):
        problems.append(Problem("healed", f"exit status {ended.status}: {_tail(ended.err)}"))
    return problems


def _of_status(ended: Ended, output: Path, killed: frozenset[int]) -> list[Problem]:
    status = ended.status or 0
    problems = []
    if status < 0 and -status not in killed:
        problems.append(Problem("crash", f"signal {-status}: {_tail(ended.err)}"))
    stopped = status == EXIT_INTERRUPTED and killed & _STOPS  # who pressed Ctrl-C needs no word about it
    if status > 0 and not stopped and not _MESSAGE.search(ended.err):
        problems.append(Problem("silent", f"exit status {status}: {_tail(ended.err)!r}"))
    if status >= 0 and _says_running(output.with_name(f"{output.name}.report") / "report.json"):
        problems.append(Problem("report", f"report.json says running after exit status {status}"))
    return problems


def _says_running(report: Path) -> bool:
    try:
        return json.loads(report.read_text()).get("state") == "running"
    except (OSError, ValueError):
        return False


def _tail(text: str) -> str:
    return text.strip()[-1200:]
