"""The Markdown section: every measurement beside the paper's number, with the bars. Pure text of a state.

What was not measured is said to be missing; what failed says why.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from . import bars, paper
from .bars import digits, rate
from .jobs_table import Jobs
from .state import FIGURES, Record, State
from .steps import EIGHT, LONG_LINE_APP, WHOLE_SET

BEGIN, END = "<!-- figures: begin -->", "<!-- figures: end -->"
MIB = 1 << 20


@dataclass(frozen=True)
class Section:
    state: State
    apps: Sequence[str]
    plots: Sequence[tuple[str, str]] = ()  # (title, path relative to the page)

    def text(self) -> str:
        parts = [self._host(), self._fig5(), self._fig6(), self._fig7(), Jobs(self.state, self.apps).lines(), self._long()]
        return "\n".join([BEGIN, *(line for part in parts for line in part), *self._pictures(), END]) + "\n"

    def _rows(self, app: str, part: str) -> dict[str, Record]:
        return self.state.records(app, part)

    def _host(self) -> Iterator[str]:
        """Card, driver, date and command of each figure."""
        emulated = False
        for figure, parts in FIGURES.items():
            rows = [record for _, _, _, record in self.state.all(parts)]
            if not rows:
                yield f"- {figure}: not measured"
                continue
            emulated |= any(row.get("device") == "emulated" for row in rows)
            of = {name: ", ".join(sorted({str(row[name]) for row in rows if row.get(name)}))
                  for name in ("card", "driver", "processor", "cores", "lanes", "date", "commit")}
            driver = f", driver {of['driver']}" if of["driver"] else ""
            divided = f" in {of['lanes']} lanes" if of["lanes"] not in ("", "1") else ""
            host = f"{of['processor']}, {of['cores']} cores{divided}"
            yield f"- {figure}: {of['card']}{driver}; {host}; {of['date']}; commit {of['commit']}"
        rows = [record for _, _, _, record in self.state.all(list(_all_parts()))]
        if any(row.get("lanes", "1") != "1" for row in rows):
            yield "- A lane has an equal part of the host's cores and GPUs; each measured an app, at the same time."
        yield from (f"- `{command}`" for command in sorted({str(row["command"]) for row in rows if "command" in row}))
        if emulated:
            yield "\n**Of the emulated device: these numbers only show that the bench works. They say nothing of a GPU.**"

    def _fig5(self) -> Iterator[str]:
        yield "\n### A task against one core (Fig. 5)\n"
        yield (
            "A GPU task, warm, from the page cache to its output file, median of its runs. The CPU's is one task with its"
            " filter, combiner and collector on one core; beside it the same with filters made with -march=native."
            " Speedups are of rates, against the bundle's own filters.\n")
        sets = "default, GB/s | x | plain x | paper set x | texture x"
        yield f"| app | one core, MB/s | native | half the size | {sets} | the paper | bar |"
        yield "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|"
        for app in self.apps:
            yield self._fig5_row(app)
        yield from self._notes("cpu", "task")

    def _fig5_row(self, app: str) -> str:
        cpu, task = self._rows(app, "cpu"), self._rows(app, "task")
        own, best = cpu.get("own"), task.get("default")
        core = f"{rate(own) / 1e6:.3g}" if bars.measured(own) and own else "-"
        native = cpu.get("native")
        beside = f"{rate(native) / 1e6:.3g}" if bars.measured(native) and native else "-"
        half = f"{100 * own['deviation']:+.1f} %" if own and "deviation" in own else "-"
        fast = f"{rate(best) / 1e9:.3g}" if bars.measured(best) and best else "-"
        times = [_times(task.get(name), own) for name in ("default", "plain", WHOLE_SET, "texture")]
        says = f"{paper.FIG5[app]:g} x" if app in paper.FIG5 else "in its picture only" if app in paper.TABLE2 else "-"
        both = best and own and bars.measured(best) and bars.measured(own)
        told = bars.verdict(app, best, own) if both and best and own else "not measured"
        return f"| {app} | {core} | {beside} | {half} | {fast} | {' | '.join(times)} | {says} | {told} |"

    def _notes(self, *parts: str) -> Iterator[str]:
        """What is not as planned: smaller inputs, measurements side by side, failures."""
        where: dict[str, list[str]] = {}
        for app in self.apps:
            for part in parts:
                for name, record in self._rows(app, part).items():
                    for note in _note(record):
                        where.setdefault(note, []).append(f"{app} {name}")
        for note, places in where.items():
            yield f"\n{note}: {', '.join(places)}."

    def _fig6(self) -> Iterator[str]:
        yield "\n### Where a task's time goes (Fig. 6)\n"
        yield "Percent of the median run of the default set and of the paper's, by the device's clock.\n"
        names = [*bars.STAGES, "other"]
        yield f"| app, set | ms | {' | '.join(names)} | the paper says |"
        yield f"|---|---:|{'---:|' * len(names)}---|"
        for app in self.apps:
            for name in ("default", WHOLE_SET):
                record = self._rows(app, "task").get(name)
                if record and bars.measured(record):
                    found = bars.stages(record)
                    cells = " | ".join(f"{100 * found[n] / max(1e-12, sum(found.values())):.0f}" for n in names)
                    says = paper.FIG6_SAYS.get(app, "") if name == WHOLE_SET else ""
                    yield f"| {app}, {name} | {digits(record['seconds'] * 1e3)} | {cells} | {says} |"

    def _fig7(self) -> Iterator[str]:
        yield "\n### Without one item of the paper's set (Fig. 7)\n"
        yield "How many times as long a kernel takes without the item; a dash: the item changes nothing in the app.\n"
        yield f"| Fig. | item, kernel | the paper, at most | {' | '.join(self.apps)} |"
        yield f"|---|---|---:|{'---:|' * len(self.apps)}"
        for effect in paper.FIG7:
            cells = [self._effect(app, effect.item, effect.stage) for app in self.apps]
            kernel = effect.stage.removeprefix("device_")
            yield f"| {effect.part} | {effect.item}, {kernel} | {effect.at_most:g} x | {' | '.join(cells)} |"
        yield "\nThe whole task, for every item, and the size it had:\n"
        yield f"| item | {' | '.join(self.apps)} |\n|---|{'---:|' * len(self.apps)}"
        yield f"| size, MiB | {' | '.join(self._size(app) for app in self.apps)} |"
        items = dict.fromkeys(n for app in self.apps for n in self._rows(app, "items") if n != WHOLE_SET)
        for item in items:
            yield f"| {item} | {' | '.join(self._effect(app, item, '') for app in self.apps)} |"
        yield from self._notes("items")

    def _size(self, app: str) -> str:
        whole = self._rows(app, "items").get(WHOLE_SET, {})
        return f"{whole['bytes'] / MIB:.4g}" if "seconds" in whole else "-"

    def _effect(self, app: str, item: str, stage: str) -> str:
        rows = self._rows(app, "items")
        whole, without = rows.get(WHOLE_SET, {}), rows.get(item, {})
        if without.get("no_effect"):
            return "-"
        if "seconds" not in whole or "seconds" not in without:
            return "failed" if "failed" in without else "?"
        pair = [row["stages"].get(stage, 0.0) if stage else row["seconds"] for row in (without, whole)]
        return f"{pair[0] / pair[1]:.2f} x" if pair[0] and pair[1] else "-"

    def _long(self) -> Iterator[str]:
        rows = self._rows(LONG_LINE_APP, "long-line")
        if not rows:
            return
        yield "\n### One long line\n"
        yield f"| {LONG_LINE_APP}, the longest line | input, MiB | ms | GB/s | map kernel, ms |\n|---|---:|---:|---:|---:|"
        for name, record in rows.items():
            if bars.measured(record):
                longest = f"{record['longest_line'] / 1e6:.2g} MB" if record["longest_line"] else "5.5 kB"
                kernel = record["stages"].get("map", 0.0) * 1e3
                size, whole = f"{record['bytes'] / MIB:.4g}", f"{record['seconds'] * 1e3:.1f}"
                yield f"| {longest} | {size} | {whole} | {rate(record) / 1e9:.3g} | {kernel:.1f} |"
            else:
                yield f"| {name} | {record.get('failed')} | | | |"

    def _pictures(self) -> Iterator[str]:
        for title, path in self.plots:
            yield f"\n![{title}]({path})"


def _times(record: Record | None, core: Record | None) -> str:
    if record and "failed" in record:
        return "failed"
    return digits(rate(record) / rate(core)) if record and core and bars.measured(record) and bars.measured(core) else "-"


def _note(record: Record) -> list[str]:
    if "failed" in record:
        return [f"**Failed**, {record['failed']}"]
    told = []
    if record.get("wanted_bytes", 0) > record.get("bytes", 0):
        told.append(f"Measured on {record['bytes'] / MIB:.4g} MiB, since they are slow")
    if 0 < len(record.get("runs", ())) < record.get("wanted_runs", 0):
        told.append(f"Median of {len(record['runs'])} runs")
    if record.get("at_a_time", 1) > 1:
        told.append(f"{record['at_a_time']} apps at a time, on different cores of the CPU")
    if record.get("equal") is False:
        told.append("**Their output is another**")
    return told


def _all_parts() -> Iterator[str]:
    for parts in FIGURES.values():
        yield from parts


def ordered(state: State) -> list[str]:
    """The apps that a state knows, the paper's first, in the order of its Table 2."""
    known = state.apps()
    return [app for app in EIGHT if app in known] + [app for app in known if app not in EIGHT]
