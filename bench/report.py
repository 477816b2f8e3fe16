"""What a bench prints: a Markdown table of values with the bars that the project asks of itself."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Row:
    """One line of the table. `bar` is the least (or, with `most`, the largest) `value` that the project asks of itself."""

    what: str
    value: float | None
    unit: str
    bar: float | None = None
    most: bool = False
    note: str = ""

    @property
    def verdict(self) -> str:
        if self.bar is None or self.value is None:
            return ""
        met = self.value <= self.bar if self.most else self.value >= self.bar
        return f"{'at most' if self.most else 'at least'} {self.bar:g}: {'met' if met else 'MISSED'}"


def table(rows: list[Row]) -> str:
    lines = ["| what | value | bar | note |", "|---|---:|---|---|"]
    for row in rows:
        value = "-" if row.value is None else f"{row.value:.3g} {row.unit}"
        lines.append(f"| {row.what} | {value} | {row.verdict} | {row.note} |")
    return "\n".join(lines)


def replace_results(page: Path, text: str) -> None:
    """Put `text` in place of everything below the page's heading "## Results"."""
    before, heading, _ = page.read_text(encoding="utf-8").partition("## Results\n")
    if not heading:
        raise SystemExit(f"{page} has no heading '## Results'")
    page.write_text(f"{before}{heading}\n{text}", encoding="utf-8")
