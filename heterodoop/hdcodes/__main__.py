"""Prints docs/errors.md."""

from __future__ import annotations

from . import markdown

print(markdown(), end="")
