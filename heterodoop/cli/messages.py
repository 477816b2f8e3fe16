"""Warnings and errors on stderr, as a user sees them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from ..diag import Diagnostic


def show_diagnostics(diagnostics: Sequence[Diagnostic]) -> None:
    from ..diag import render
    from ..source import SourceMap

    sources = SourceMap()
    for diagnostic in diagnostics:
        click.echo(printable(render(diagnostic, sources)), err=True)


def printable(text: str) -> str:
    """`text` with bytes that were no UTF-8 (surrogate escapes) shown as \\xNN: printing never fails."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
