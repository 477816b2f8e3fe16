"""Writes the parts of docs/ that are printed from tables of the code (`make docs`); a test compares them.

errors.md from hdcodes.CODES, job-settings.md, the settings of hadoop-plugin.md and the plug-in's Settings.java
from job.settings, the clause table of directives.md from
compiler.source.clauses, the metrics of operating.md from driver.metrics, the unit of driver.md from templates/systemd,
the tables of kernels.md from compiler.decide.decisions and compiler.decide.optimisations.
"""

from __future__ import annotations

from pathlib import Path

from heterodoop import hdcodes
from heterodoop.compiler.decide import decisions, optimisations
from heterodoop.compiler.source.clauses import CLAUSES, KINDS, ClauseRule
from heterodoop.driver import metrics
from heterodoop.job import java, page

DOCS = Path(__file__).resolve().parent
SETTINGS_JAVA = DOCS.parent / "runtime/hadoop/src/main/java/org/heterodoop/mr/Settings.java"
HEAD = "| clause | argument | mapper | combiner | if left out | meaning |\n|---|---|---|---|---|---|\n"
SPACES_HEAD = "| memory | what it is |\n|---|---|\n"
METRICS_HEAD = "| metric | kind | labels | what it is |\n|---|---|---|---|\n"
UNIT = DOCS.parent / "templates/systemd/heterodoop-driver@.service"
ITEMS_HEAD = "| item | set | instead | what it does |\n|---|---|---|---|\n"


def clause_row(rule: ClauseRule) -> str:
    argument = {("variable", False): "variable", ("variable", True): "variables"}.get((rule.argument, rule.many), "constant")
    if rule.argument == "constant":
        argument += f" from 1 to {rule.largest}"
    places = " | ".join("required" if kind in rule.required else "yes" if kind in rule.legal else "-" for kind in KINDS)
    return f"| `{rule.name}` | {argument} | {places} | {rule.derived or '-'} | {rule.doc} |\n"


def with_table(text: str, head: str, rows: list[str]) -> str:
    """A page with the rows of one table made anew; the prose around it stays."""
    before, found, after = text.partition(head)
    if not found:
        raise ValueError(f"a page has lost the head of its table: {head}")
    rest = after.splitlines(keepends=True)
    while rest and rest[0].startswith("|"):
        rest.pop(0)
    return before + head + "".join(rows) + "".join(rest)


def directives(text: str) -> str:
    return with_table(text, HEAD, [clause_row(rule) for rule in CLAUSES])


def kernels(text: str) -> str:
    spaces = [f"| `{name}` | {doc} |\n" for name, doc in decisions.SPACES.items()]
    items = [
        f"| `{row.name}` | {', '.join(row.sets)} | {f'`{row.instead}`' if row.instead else '-'} | {row.doc} |\n"
        for row in optimisations.ALL
    ]
    return with_table(with_table(text, SPACES_HEAD, spaces), ITEMS_HEAD, items)


def with_unit(text: str) -> str:
    """A page with the lines of the driver's unit between its marks."""
    begin, end = "<!-- unit: begin -->\n", "<!-- unit: end -->\n"
    before, _, rest = text.partition(begin)
    old, found, after = rest.partition(end)
    if not found:
        raise ValueError("driver.md has lost the marks around its unit")
    return f"{before}{begin}```ini\n{UNIT.read_text(encoding='utf-8')}```\n{end}{after}"


def generated() -> dict[Path, str]:
    """File -> the text it must have."""
    path, kernel_page, plugin_page = DOCS / "directives.md", DOCS / "kernels.md", DOCS / "hadoop-plugin.md"
    driver, operating = DOCS / "driver.md", DOCS / "operating.md"
    return {
        DOCS / "errors.md": hdcodes.markdown(),
        DOCS / "job-settings.md": page.markdown(),
        SETTINGS_JAVA: java.source(),
        plugin_page: with_table(plugin_page.read_text(encoding="utf-8"), page.PLUGIN_HEAD, page.plugin_rows()),
        driver: with_unit(driver.read_text(encoding="utf-8")),
        operating: with_table(operating.read_text(encoding="utf-8"), METRICS_HEAD, metrics.markdown_rows()),
        path: directives(path.read_text(encoding="utf-8")),
        kernel_page: kernels(kernel_page.read_text(encoding="utf-8")),
    }


if __name__ == "__main__":
    for target, text in generated().items():
        target.write_text(text, encoding="utf-8")
