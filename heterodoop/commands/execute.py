"""What `heterodoop run` and `heterodoop submit` do alike: run a job, wherever that is, and tell the user of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click

from ..diag import Diagnostic
from ..errors import UsageError
from ..job.runner import Runner, Shown
from ..job.spec import JobSpec
from ..job.stopping import IterateOptions, Round

Show = Callable[[Sequence[Diagnostic]], None]

_WHY = {
    "until": "the criterion is met", "unchanged": "the output is the side file that it was made with",
    "rounds": "so many were asked for",
}


def execute(runner: Runner, spec: JobSpec, shown: Shown, *, as_json: bool) -> None:
    """Run the job; print its report with `as_json`, and where its result lies. Raises as `Runner.run`, and its failure."""
    end = runner.run(spec, shown)
    shown.warn(end.warnings)
    if as_json:
        click.echo(json.dumps(end.report, indent=1))
    if end.failure:
        raise end.failure
    for line in [*([_ending(end.report["iterate"])] if spec.again else end.summary), end.result]:
        shown.say(line)


def shown_to(show: Show, *, quiet: bool, as_json: bool) -> Shown:
    """quiet: nothing but warnings and errors is said. as_json: of rounds nothing either, for the report has them."""
    return Shown(not quiet, show, _nothing if quiet else _say, _nothing if quiet or as_json else _tell)


def wish(side_file: str | None, rounds: str | None, until: str | None) -> IterateOptions | None:
    """Of --iterate, --rounds, --until. Raises UsageError HD040 where one of the others stands without --iterate."""
    if side_file is not None:
        return IterateOptions(side_file, rounds, until)
    for option, value in (("--rounds", rounds), ("--until", until)):
        if value is not None:
            raise UsageError(f"{option} {value} says when a job with --iterate is done", code="HD040",
                             help="add --iterate NAME, the side file that each round replaces")
    return None


def _ending(found: Mapping[str, Any]) -> str:
    """Why there are so many rounds and no more. `found`: a report's "iterate"."""
    return f"{len(found['rounds'])} rounds: {_WHY[found['stopped']]}"


def _say(text: str) -> None:
    click.echo(text, err=True)


def _tell(done: Round) -> None:
    value = f", {done.until.name} = {done.until.value(done.report) or 0}" if done.until else ""
    earlier = ", by an earlier run" if done.earlier else ""
    _say(f"round {done.number}: {done.report['seconds']['total']:.1f} s{value}{earlier}")


def _nothing(what: object) -> None:
    """With --quiet nothing is said."""
