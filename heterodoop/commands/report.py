"""`heterodoop report` and `heterodoop job report`: a job's page, and its picture; the work is in `page`."""

from __future__ import annotations

import os
import webbrowser
from pathlib import Path

import click

from .. import scratch
from ..errors import ToolError, UsageError
from ..page import attempts, picture, render
from ..page.attempts import Job
from ..scheduler.price import parse

_HEAD_BYTES = 4096
_SUFFIX = ".report"


def of_folder(folder: str, output: str | None, svg: str | None, price: str | None, *, opens: bool) -> None:
    """The page of a job that `run` ran. Raises UsageError HD060, HD061, HD647."""
    place = Path(folder)
    name = place.resolve().name.removesuffix(_SUFFIX)
    write(attempts.of_folder(place), Path(output or f"{name}.html"), svg, price, opens=opens)


def write(job: Job, page: Path, svg: str | None, price: str | None, *, opens: bool) -> None:
    """The page, and the picture where one is asked for. Raises UsageError HD061, HD647."""
    try:
        rent = parse(price) if price is not None else None
    except ValueError as error:
        raise UsageError(str(error), code="HD647") from None
    _check(page, render.MARK)
    if svg:
        _check(Path(svg), "<svg ")
    _write(page, render.page(job, rent))
    if svg:
        _write(Path(svg), picture.picture(job))
    click.echo(f"page: {page}" + (f", picture: {svg}" if svg else ""))
    if opens and not webbrowser.open(page.resolve().as_uri()):
        raise ToolError(f"no browser could be started for {page}", code="HD062", help="open the file yourself")


def _check(path: Path, mark: str) -> None:
    """A page may take a page's place, and nothing else's."""
    if not os.path.lexists(path):
        return
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            ours = path.is_file() and mark in file.read(_HEAD_BYTES)
    except OSError:
        ours = False
    if not ours:
        raise UsageError(f"{str(path)!r} exists and is none that this command made", code="HD061",
                         help="name another file with -o, or move it away")


def _write(path: Path, text: str) -> None:
    try:
        scratch.write(path, text)
    except OSError as error:
        raise UsageError(f"{str(path)!r} cannot be written: {error.strerror}", code="HD061",
                         help="name another file with -o") from None
