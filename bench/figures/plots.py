"""The figures as SVG, where matplotlib is installed (pip install '.[bench]'). Measuring does not need it."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from . import bars, paper
from .bars import digits, measured, rate
from .jobs_table import best, by_contender
from .state import State
from .steps import CPU_ONLY, WHOLE_SET

MISSING = "matplotlib is not installed, so there are no plots (pip install '.[bench]')"
CONFIGURATIONS = ("plain", WHOLE_SET, "default", "texture")
LABELS = {WHOLE_SET: "the paper's set", "texture": "default, texture form"}
WIDTH, HEIGHT = 10.0, 4.0  # inches


def available() -> bool:
    return importlib.util.find_spec("matplotlib") is not None


def draw(state: State, apps: Sequence[str], folder: Path) -> list[tuple[str, Path]]:
    """(title, file) of each figure that there are numbers for. Raises ModuleNotFoundError without matplotlib, OSError."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "heterodoop", "svg.fonttype": "none", "font.size": 8})
    folder.mkdir(parents=True, exist_ok=True)
    return [made for make in (_fig4, _fig5, _fig6, _fig7) for made in _made(make, state, apps, folder)]


def _made(make: Callable[..., str], state: State, apps: Sequence[str], folder: Path) -> list[tuple[str, Path]]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, HEIGHT), layout="constrained")
    title = make(figure.subplots(), state, apps)
    if not title:
        return []
    emulated = any(record.get("device") == "emulated" for _, _, _, record in state.all(("task", "items", "job")))
    title += " (emulated device: says nothing of a GPU)" if emulated else ""
    figure.suptitle(title)
    path = folder / f"{make.__name__.removeprefix('_')}.svg"
    figure.savefig(path, metadata={"Date": None})
    return [(title, path)]


def _grouped(axes: Any, apps: Sequence[str], series: dict[str, list[float]], unit: str) -> None:
    """Bars side by side, a group per app; 0 = nothing to show."""
    width = 0.8 / max(1, len(series))
    for number, (name, values) in enumerate(series.items()):
        drawn = axes.bar([i + number * width for i in range(len(apps))], values, width, label=name)
        axes.bar_label(drawn, [digits(v) if v else "" for v in values], fontsize=6, rotation=90, padding=2)
    axes.set_xticks([i + 0.4 - width / 2 for i in range(len(apps))], apps, rotation=20, ha="right")
    axes.set_ylabel(unit)
    axes.margins(y=0.12)
    axes.legend(fontsize=7, loc="upper left", bbox_to_anchor=(1, 1))


def _fig4(axes: Any, state: State, apps: Sequence[str]) -> str:
    found = {app: by_contender(state.records(app, "job")) for app in apps}
    found = {app: rounds for app, rounds in found.items() if CPU_ONLY in rounds}
    contenders = list(dict.fromkeys(c for rounds in found.values() for c in rounds if c != CPU_ONLY))
    series = {c: [best(r[CPU_ONLY]) / best(r[c]) if c in r else 0.0 for r in found.values()] for c in contenders}
    if not series:
        return ""
    _grouped(axes, list(found), series, "times the CPU alone")
    axes.axhline(1, color="grey", linewidth=0.5)
    axes.axhline(paper.FIG4_MEAN, color="grey", linewidth=0.5, linestyle="dashed")
    return f"Whole jobs (Fig. 4); dashed: the paper's mean, {paper.FIG4_MEAN:g} x"


def _fig5(axes: Any, state: State, apps: Sequence[str]) -> str:
    cores = {app: state.records(app, "cpu").get("own", {}) for app in apps}
    shown = [app for app in apps if measured(cores[app])]
    series = {}
    for name in CONFIGURATIONS:
        rows = [state.records(app, "task").get(name, {}) for app in shown]
        values = [rate(row) / rate(cores[app]) if measured(row) else 0.0 for app, row in zip(shown, rows, strict=True)]
        if any(values):
            series[LABELS.get(name, name)] = values
    if any(app in paper.FIG5 for app in shown) and series:
        series["the paper"] = [paper.FIG5.get(app, 0.0) for app in shown]
    if not series:
        return ""
    _grouped(axes, shown, series, "times one core")
    axes.set_yscale("log")
    return "A GPU task against one CPU core (Fig. 5)"


def _fig6(axes: Any, state: State, apps: Sequence[str]) -> str:
    rows = {f"{app}, {name}": row for app in apps for name in ("default", WHOLE_SET)
            if measured(row := state.records(app, "task").get(name, {}))}
    if not rows:
        return ""
    left = [0.0] * len(rows)
    for stage in [*bars.STAGES, "other"]:
        found = [bars.stages(row) for row in rows.values()]
        part = [100 * of[stage] / max(1e-12, sum(of.values())) for of in found]
        axes.barh(list(rows), part, left=left, label=stage)
        left = [a + b for a, b in zip(left, part, strict=True)]
    axes.invert_yaxis()
    axes.tick_params(axis="y", labelsize=6)
    axes.set_xlabel("percent of the task")
    axes.legend(fontsize=7, loc="upper left", bbox_to_anchor=(1, 1))
    return "Where a GPU task's time goes (Fig. 6)"


def _fig7(axes: Any, state: State, apps: Sequence[str]) -> str:
    series: dict[str, list[float]] = {}
    for effect in paper.FIG7:
        values = [_effect(state, app, effect) for app in apps]
        if any(values):
            series[f"{effect.part} {effect.item}, {effect.stage.removeprefix('device_')}"] = values
    if not series:
        return ""
    _grouped(axes, apps, series, "times as long without it")
    axes.axhline(1, color="grey", linewidth=0.5)
    return "Kernels without one item of the paper's set (Fig. 7)"


def _effect(state: State, app: str, effect: paper.Effect) -> float:
    rows = state.records(app, "items")
    pair = [rows.get(name, {}).get("stages", {}).get(effect.stage, 0.0) for name in (effect.item, WHOLE_SET)]
    return pair[0] / pair[1] if all(pair) else 0.0
