"""The options that `run` and `submit` have alike, once: what a job is, wherever it runs (job/spec.py)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

_OPTIONS = [
    click.option(
        "--record-delimiter", metavar="TEXT",
        help=r"End of a record instead of \n, \r\n or \r; escapes like \n and \x01 are understood.",
    ),
    click.option(
        "-D", "settings", multiple=True, metavar="KEY=VALUE",
        help="Job setting as in Hadoop; repeatable (docs/job-settings.md).",
    ),
    click.option(
        "--file", "files", multiple=True, metavar="PATH[#NAME]",
        help="File of this machine that the filters find in their working folder; repeatable.",
    ),
    click.option(
        "--iterate", "side_file", metavar="NAME",
        help="Run the job again and again, each time with the last output as the side file NAME (a --file gives the first"
             " one).",
    ),
    click.option("--rounds", metavar="N", help="With --iterate: at most N rounds (default: 100)."),
    click.option(
        "--until", metavar="CONDITION",
        help="With --iterate: done when a counter of the last round says so: GROUP:COUNTER<NUMBER, or <= == >= >.",
    ),
    click.option("--quiet", is_flag=True, help="No progress."),
]


def of_a_job(command: Any) -> Any:
    """Add them to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def reducers(*names: str, default: str) -> Callable[[F], F]:
    """How many reduce tasks. default: where the program has a reducer."""
    return click.option(
        *names, "reducers", metavar="N",
        help=f"Reduce tasks; 0 = the map output is the result (default: {default} with a reducer, else 0).",
    )


def policy(*more: str) -> Callable[[F], F]:
    """Who takes which map task. more: what the policies are called here, the default first."""
    return click.option("--policy", metavar="NAME", help=f"Who takes which map task: {', '.join(more)}.")
