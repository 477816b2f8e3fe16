"""`heterodoop submit --iterate`: rounds of a cluster's job, and what is said of them; the work is in `hadoop.rounds`."""

from __future__ import annotations

import contextlib
import json
import sys
from pathlib import Path
from typing import Any

import click

from ..engine.terminal.progress import make_display
from ..errors import UsageError
from ..hadoop.rounds.iterate import Iterated, Result, Shown
from ..job.stopping import Wish
from . import iterate
from .submit import chosen_of, report, sayer, warn


def submit(
    bundle: str, inputs: tuple[str, ...], output: str, side_file: str, rounds: str | None, until: str | None, *,
    dry_run: bool, detach: bool, kill_on_exit: bool, quiet: bool, as_json: bool, **options: Any,
) -> None:
    """Run the rounds; print the last one's end, with all rounds in it, or a line a round.

    Raises as `Iterated`; UsageError HD032 (--detach); JobFailed HD628 and its like for a round that failed.
    """
    if detach:
        raise UsageError("--detach and --iterate exclude each other: somebody must wait for a round to start the next",
                         code="HD032", help="leave --detach out; after an interrupt the same command goes on")
    wish, say = Wish(side_file, rounds, until), sayer(quiet=quiet)
    with contextlib.closing(Iterated(Path(bundle), inputs, output, chosen_of(options), wish, say, dry=dry_run)) as job:
        if dry_run:
            _dry(job)
            return
        warn(job.warnings)
        shown = Shown(lambda: make_display(sys.stderr, quiet=quiet), say, iterate.teller(quiet=quiet or as_json))
        result = job.run(shown, kill_on_exit=kill_on_exit)
    if as_json:
        click.echo(json.dumps(_report(result, output), indent=1))
    if result.failure:
        raise result.failure[1]
    warn(result.warnings)
    for line in (iterate.ending(result.iterate), f"result in {output}"):
        say(line)


def _dry(job: Iterated) -> None:
    warn(job.warnings)
    click.echo("the first round; each further one has the output of the round before as its side file", err=True)
    click.echo(job.line())


def _report(result: Result, output: str) -> dict[str, Any]:
    cause = result.failure[0] if result.failure else None
    return {**report(result.ended, output, cause), "iterate": result.iterate}
