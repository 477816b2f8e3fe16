"""A timeline as PNG, where matplotlib is installed; HeteroDoop needs it for nothing else and does not bring it."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path

from ..errors import ToolError
from ..scheduler.timeline import COLOURS, FOOT, MEANING, ROW, TOP, Chart

INCH = 96  # of the SVG's units


def check() -> None:
    """Raises ToolError HD648 where matplotlib is missing."""
    if importlib.util.find_spec("matplotlib") is None:
        raise ToolError(
            "a PNG needs matplotlib, which is not installed", code="HD648",
            help="pip install matplotlib, or draw an .svg, which needs nothing")


def write(path: Path, charts: Sequence[Chart]) -> None:
    """The pictures below each other. Raises OSError."""
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

    seconds = max(chart.seconds for chart in charts)
    heights = [TOP + ROW * len(chart.rows) + FOOT for chart in charts]
    figure = Figure(figsize=(11, sum(heights) / INCH), dpi=INCH, layout="constrained")
    axes = figure.subplots(len(charts), 1, squeeze=False, height_ratios=heights)
    for chart, axis in zip(charts, axes[:, 0], strict=True):
        axis.set_title(chart.title, fontsize=9)
        for kind, colour in COLOURS.items():
            bars = [bar for bar in chart.bars if bar.kind == kind]
            axis.barh([bar.row for bar in bars], [bar.end - bar.start for bar in bars], left=[bar.start for bar in bars],
                      color=colour, edgecolor="white", linewidth=0.2)
        axis.set_yticks(range(len(chart.rows)), chart.rows, fontsize=5)
        axis.set_ylim(len(chart.rows) - 0.5, -0.5)
        axis.set_xlim(0, seconds)
        axis.set_xlabel("seconds", fontsize=7)
    legend = [Patch(color=colour, label=MEANING[kind]) for kind, colour in COLOURS.items()]
    figure.legend(handles=legend, loc="outside upper center", ncols=len(legend), fontsize=7)
    figure.savefig(path)
