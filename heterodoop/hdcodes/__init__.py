"""The error index: every HDnnn the product can print, with what it means and what to do.

A table for each hundred of codes. `heterodoop explain HD104` prints one entry; docs/errors.md is generated from this index
(`python -m heterodoop.hdcodes > docs/errors.md`) and a test keeps the two equal.
"""

from __future__ import annotations

from . import command_line, directives, hadoop, machine, more, programs, regions, tasks
from .entry import Entry

TABLES = (command_line, directives, regions, programs, tasks, machine, hadoop, more)
CODES: dict[str, Entry] = {code: entry for table in TABLES for code, entry in table.CODES.items()}


def markdown() -> str:
    """docs/errors.md."""
    lines = ["# Error index", "", "`heterodoop explain HDnnn` prints one entry."]
    for code, entry in sorted(CODES.items()):
        lines += ["", f"## {code}: {entry.title}", "", entry.text, "", f"What to do: {entry.fix}"]
        lines += ["", f"Tried as a small change: {entry.line}"] if entry.line else []
    return "\n".join(lines) + "\n"
