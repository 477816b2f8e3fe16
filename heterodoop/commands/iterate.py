"""`heterodoop run --iterate`: rounds of a job, and a line about each, as `heterodoop submit --iterate` has them too."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..diag import Diagnostic
from ..engine.rounds import iterate
from ..engine.run.plan import RunOptions
from ..errors import UsageError
from ..job.stopping import Round, Wish

if TYPE_CHECKING:
    from ..engine.devices.devices import DeviceSource

_WHY = {
    "until": "the criterion is met", "unchanged": "the output is the side file that it was made with",
    "rounds": "so many were asked for",
}


def run(
    bundle: Path, inputs: tuple[str, ...], output: str, side_file: str, rounds: str | None, until: str | None, *,
    show: Callable[[list[Diagnostic]], None], as_json: bool, quiet: bool, devices: DeviceSource | None,
    **options: Any,
) -> None:
    """Run the rounds; print the last one's report, with all rounds in it, or a line a round. Raises as `run_iterated`."""
    silent = quiet or as_json
    given = RunOptions(quiet=silent, **options)
    tell = teller(quiet=silent)
    wish = Wish(side_file, rounds, until)
    result = iterate.run_iterated(bundle, inputs, output, given, wish, devices=devices, tell=tell)
    show(list(result.warnings))
    if as_json:
        click.echo(json.dumps(result.report, indent=1))
    elif not quiet:
        click.echo(ending(result.report["iterate"]), err=True)
        click.echo(f"result in {result.output}, report in {result.report_folder}", err=True)


def refuse_alone(rounds: str | None, until: str | None) -> None:
    """Raises UsageError HD040 where an option of --iterate stands without it."""
    for option, value in (("--rounds", rounds), ("--until", until)):
        if value is not None:
            raise UsageError(f"{option} {value} says when a job with --iterate is done", code="HD040",
                             help="add --iterate NAME, the side file that each round replaces")


def ending(found: Mapping[str, Any]) -> str:
    """Why there are so many rounds and no more. `found`: a report's "iterate"."""
    return f"{len(found['rounds'])} rounds: {_WHY[found['stopped']]}"


def teller(*, quiet: bool) -> Callable[[Round], None]:
    """Prints a line about a round."""
    return _nothing if quiet else _tell


def _nothing(done: Round) -> None:
    """With --quiet and --json nothing is said of a round."""


def _tell(done: Round) -> None:
    value = f", {done.until.name} = {done.until.value(done.report) or 0}" if done.until else ""
    earlier = ", by an earlier run" if done.earlier else ""
    click.echo(f"round {done.number}: {done.report['seconds']['total']:.1f} s{value}{earlier}", err=True)
