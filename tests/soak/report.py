"""What a soak has counted: a line of JSON, and the Markdown of docs/soak.md."""

from __future__ import annotations

import os
import platform
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .verdict import KINDS

HEADING = "## Results\n"
LINES_OF_A_FAILURE = 12


@dataclass
class Totals:
    """Sums over the cases so far. failed: what the lanes told of those with problems."""

    first: int
    cases: int = 0
    struck: int = 0
    missed: int = 0
    by_family: dict[str, Counter[str]] = field(default_factory=dict)
    ends: Counter[str] = field(default_factory=Counter)
    problems: Counter[str] = field(default_factory=Counter)
    failed: list[dict[str, Any]] = field(default_factory=list)
    seconds: float = 0.0

    def add(self, told: dict[str, Any]) -> None:
        self.cases += 1
        self.struck += told["struck"]
        self.missed += told["meant"] - told["struck"]
        family = self.by_family.setdefault(told["family"], Counter())
        family["cases"] += 1
        family["struck"] += told["struck"]
        family["missed"] += told["meant"] - told["struck"]
        family["right"] += told["status"] == 0
        family["failed"] += told["status"] != 0
        self.ends[str(told["status"])] += 1
        for kind in {kind for kind, _ in told["problems"]}:
            self.problems[kind] += 1
        family["problems"] += bool(told["problems"])
        if told["problems"]:
            self.failed.append(told)

    def to_json(self) -> dict[str, Any]:
        return {
            "seed": self.first, "cases": self.cases, "faults_struck": self.struck, "faults_missed": self.missed,
            "seconds": round(self.seconds, 1), "machine": machine(),
            "problems": {kind: self.problems[kind] for kind in KINDS},
            "families": {name: dict(counts) for name, counts in sorted(self.by_family.items())},
            "exit_statuses": dict(sorted(self.ends.items())), "failed_seeds": [told["seed"] for told in self.failed],
        }


def machine() -> str:
    return f"{len(os.sched_getaffinity(0))} cores, Linux {platform.release()}, Python {platform.python_version()}"


def markdown(totals: Totals, command: str) -> str:
    """The figures as tables."""
    head = (
        f"`{command}`: {totals.struck} faults struck ({totals.missed} more came too late or to nobody) in {totals.cases}"
        f" cases, {totals.seconds:.0f} s on {machine()}.\n\n| found | cases |\n|---|---:|\n"
    )
    found = "".join(f"| {words} | {totals.problems[kind]} |\n" for kind, words in KINDS.items())
    table = "\n| family | faults struck | cases | exit status 0 | other | with a problem |\n|---|---:|---:|---:|---:|---:|\n"
    rows = "".join(
        f"| {name} | {n['struck']} | {n['cases']} | {n['right']} | {n['failed']} | {n['problems']} |\n"
        for name, n in sorted(totals.by_family.items())
    )
    seeds = "".join(f"`--repeat {told['seed']}`\n" for told in totals.failed[:50])
    return head + found + table + rows + (f"\nTo repeat what failed:\n\n{seeds}" if seeds else "")


def replace_results(page: Path, text: str) -> None:
    """Put the figures in place of everything below the page's heading."""
    before, heading, _ = page.read_text(encoding="utf-8").partition(HEADING)
    if not heading:
        raise SystemExit(f"{page} has no heading {HEADING.strip()!r}")
    page.write_text(f"{before}{heading}\n{text}", encoding="utf-8")


def failure(told: dict[str, Any]) -> str:
    """A case with problems, for a person."""
    where = f"{told['family']}, {told['job']} on {told['device']}{', a new process' if told['fresh'] else ''}"
    lines = [f"FAILED --repeat {told['seed']} ({where}; exit status {told['status']})"]
    lines += [f"  fault: {fault}" for fault in told["faults"]] + [f"  struck: {what}" for what in told["where"]]
    for kind, what in told["problems"]:
        shown = what.rstrip().splitlines()[-LINES_OF_A_FAILURE:]
        lines += [f"  {KINDS[kind].upper()}:", *(f"    {line}" for line in shown)]
    return "\n".join(lines)
