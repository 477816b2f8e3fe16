"""A small change of the source as a user sees it: the lines as a diff has them, when it is right, and what it brings."""

from __future__ import annotations

from ...manifest import Change, Fix


def fix_lines(fix: Fix) -> list[str]:
    """When the change is right and what is left with it, then its lines, with their numbers in the file as it is."""
    where = f", where {fix.where}" if fix.where else ""
    left = "nothing is left then" if fix.left == 0 else f"{fix.left} left then"
    return [f"change{where} (tried: {left}):", *(f"  {line}" for one in fix.changes for line in _lines(one))]


def _lines(change: Change) -> list[str]:
    """A line that stays is not shown: others come before or behind it."""
    new = change.new.split("\n") if change.new else []
    stays = change.old in new
    if stays:
        new.remove(change.old)
    number = f"{change.line} | "
    return [*([] if stays else [f"- {number}{change.old}"]), *(f"+ {number}{line}" for line in new)]
