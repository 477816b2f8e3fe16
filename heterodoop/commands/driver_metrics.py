"""`heterodoop driver status --metrics` and `heterodoop driver unit`: what an operator gives to Prometheus and to systemd.

Not here: the metrics themselves (driver/metrics.py), the units' text (templates/systemd).
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from .. import scratch
from ..driver import metrics as exposition
from ..driver.wire import admin
from ..driver.wire.protocol import Type
from ..errors import ToolError
from ..resources import find
from .driver import where

UNITS = {
    "service": "heterodoop-driver@.service", "environment": "driver.env",
    "metrics-service": "heterodoop-driver-metrics@.service", "metrics-timer": "heterodoop-driver-metrics@.timer",
}
COMMAND = "/opt/heterodoop/bin/heterodoop"  # as the units name it


def metrics(dir: str | None, node_port: str | None, output: str | None) -> None:
    """To stdout, or to a file, which also says that no driver answers: what the last one said would stand there for ever.

    Raises ToolError HD613: nobody answers; HD519: the file cannot be written.
    """
    try:
        text = exposition.text_of(admin.ask(where(dir, node_port), Type.STATUS))
    except ToolError:
        if output:
            _write(output, exposition.text_of({}))
        raise
    if output:
        _write(output, text)
    else:
        click.echo(text, nl=False)


def unit(name: str) -> None:
    """With the path of this installation's command."""
    text = find("templates", "systemd", UNITS[name]).read_text(encoding="utf-8")
    own = Path(sys.executable).with_name("heterodoop")
    click.echo(text.replace(COMMAND, str(own) if own.exists() else COMMAND), nl=False)


def _write(name: str, text: str) -> None:
    path = Path(os.path.abspath(name))
    try:
        scratch.write(path, text)
    except OSError as error:
        raise ToolError(f"cannot write: {path}: {error.strerror}", code="HD519") from None
