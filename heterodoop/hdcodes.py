"""The error index: every HDnnn the product can print, with what it means and what to do.

`heterodoop explain HD104` prints one entry; docs/errors.md is generated from this table
(`python -m heterodoop.hdcodes > docs/errors.md`) and a test keeps the two equal. Ranges: HD0xx command line, input
and output; HD1xx directives; HD2xx why a region stays on the CPU; HD3xx C that cannot be analysed, bundles;
HD4xx tasks at run time; HD5xx this machine (compilers, libraries).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Entry:
    """`title` is one line; `text` says what was found and why it matters; `fix` what the user does."""

    title: str
    text: str
    fix: str


CODES: dict[str, Entry] = {}
