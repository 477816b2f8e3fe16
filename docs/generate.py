"""Writes the parts of docs/ that are printed from tables of the code (`make docs`); a test compares them.

errors.md from hdcodes.CODES, job-settings.md from engine.jobconf, the clause table of directives.md from
compiler.clauses.
"""

from __future__ import annotations

from pathlib import Path

from heterodoop import hdcodes
from heterodoop.compiler.clauses import CLAUSES, KINDS, ClauseRule
from heterodoop.engine import jobconf

DOCS = Path(__file__).resolve().parent
HEAD = "| clause | argument | mapper | combiner | if left out | meaning |\n|---|---|---|---|---|---|\n"


def clause_row(rule: ClauseRule) -> str:
    argument = {("variable", False): "variable", ("variable", True): "variables"}.get((rule.argument, rule.many), "constant")
    if rule.argument == "constant":
        argument += f" from 1 to {rule.largest}"
    places = " | ".join("required" if kind in rule.required else "yes" if kind in rule.legal else "-" for kind in KINDS)
    return f"| `{rule.name}` | {argument} | {places} | {rule.derived or '-'} | {rule.doc} |\n"


def directives(text: str) -> str:
    """directives.md with its clause table made anew; the prose around it stays."""
    before, head, after = text.partition(HEAD)
    if not head:
        raise ValueError("directives.md has lost the head of its clause table")
    rest = after.splitlines(keepends=True)
    while rest and rest[0].startswith("|"):
        rest.pop(0)
    return before + head + "".join(map(clause_row, CLAUSES)) + "".join(rest)


def generated() -> dict[Path, str]:
    """File -> the text it must have."""
    path = DOCS / "directives.md"
    return {
        DOCS / "errors.md": hdcodes.markdown(),
        DOCS / "job-settings.md": jobconf.markdown(),
        path: directives(path.read_text(encoding="utf-8")),
    }


if __name__ == "__main__":
    for target, text in generated().items():
        target.write_text(text, encoding="utf-8")
