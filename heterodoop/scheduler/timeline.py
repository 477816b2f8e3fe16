"""What ran when and where, as a picture: one row per GPU and CPU slot of a node, time to the right. SVG as text.

Not here: the simulation.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import NamedTuple, TypeVar

from .simulate import Outcome, Shape, Span

KINDS = {  # of a simulated job's bars: colour, meaning
    "gpu": ("#2a7f3f", "on a GPU"), "forced": ("#e08214", "forced on a GPU"),
    "waits": ("#f3d9b1", "keeps its slot for the GPU"), "cpu": ("#7a9cc6", "on a CPU slot")}
MOST_ROWS = 120
T = TypeVar("T")
ROW, LEFT, TOP, WIDTH, FOOT = 9, 90, 46, 960, 34


class Bar(NamedTuple):
    """A task on a row, from `start` to `end` seconds."""

    row: int
    kind: str
    start: float
    end: float


class Chart(NamedTuple):
    """`rows`: their names; the bars of a row do not overlap. `kinds`: of bars, each with its colour and what it means."""

    title: str
    rows: tuple[str, ...]
    bars: tuple[Bar, ...]
    seconds: float
    kinds: Mapping[str, tuple[str, str]] = KINDS


def chart(shape: Shape, outcome: Outcome) -> Chart:
    """The first nodes of the cluster, as many as fit MOST_ROWS rows. Needs an outcome with spans."""
    gpus = 0 if outcome.policy == "cpu-only" else shape.gpus
    per_node = gpus + shape.cpu_slots
    nodes = max(1, min(shape.nodes, MOST_ROWS // per_node))
    names, bars = [], []
    for node in range(nodes):
        here = [span for span in outcome.spans if span.node == node]
        names += [f"node {node + 1} GPU {i + 1}" for i in range(gpus)]
        names += [f"node {node + 1} CPU {i + 1}" for i in range(shape.cpu_slots)]
        bars += list(_bars(here, node * per_node, gpus))
    part = "" if nodes == shape.nodes else f"; {nodes} of {shape.nodes} nodes are shown"
    title = f"{outcome.policy}: {shape.tasks} map tasks in {outcome.makespan:g} s, {outcome.forced} forced{part}"
    return Chart(title, tuple(names), tuple(bars), outcome.makespan)


def _bars(spans: Iterable[Span], first: int, gpus: int) -> Iterable[Bar]:
    """Rows from `first` on: the GPUs', then the CPU slots'."""
    spans = list(spans)
    on_gpus = [(span.start, span.end, span) for span in spans if span.gpu]
    on_cpus = [(span.asked, span.end, span) for span in spans if span.forced or not span.gpu]
    for row, span in lanes(on_gpus):
        yield Bar(first + row, "forced" if span.forced else "gpu", span.start, span.end)
    for row, span in lanes(on_cpus):
        yield Bar(first + gpus + row, "waits" if span.forced else "cpu", span.asked, span.end)


def lanes(intervals: Iterable[tuple[float, float, T]]) -> Iterable[tuple[int, T]]:
    """Each interval (start, end, what) on the lowest row that is free, in their order; rows are numbered from 0."""
    free: list[int] = []
    busy: list[tuple[float, int]] = []
    rows = 0
    for start, end, what in sorted(intervals):
        while busy and busy[0][0] <= start:
            heapq.heappush(free, heapq.heappop(busy)[1])
        if not free:
            free, rows = [rows], rows + 1
        row = heapq.heappop(free)
        heapq.heappush(busy, (end, row))
        yield row, what


def svg(charts: Sequence[Chart]) -> str:
    """The pictures below each other, with one scale of time."""
    seconds = max(chart.seconds for chart in charts)
    parts, top = [], 0
    for one in charts:
        parts.append(f'<g transform="translate(0 {top})">{_chart(one, seconds)}</g>')
        top += TOP + ROW * len(one.rows) + FOOT
    width = LEFT + WIDTH + 20
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{top}" viewBox="0 0 {width} {top}"'
        f' font-family="sans-serif" font-size="11">\n<rect width="100%" height="100%" fill="white"/>\n'
        + "\n".join(parts) + "\n</svg>\n"
    )


def _chart(one: Chart, seconds: float) -> str:
    scale = WIDTH / seconds
    lines = [f'<text x="{LEFT}" y="16" font-size="13">{escape(one.title)}</text>']
    for number, (colour, meaning) in enumerate(one.kinds.values()):
        x = LEFT + number * 190
        lines.append(f'<rect x="{x}" y="24" width="12" height="9" fill="{colour}"/>'
                     f'<text x="{x + 17}" y="33">{meaning}</text>')
    for row, name in enumerate(one.rows):
        lines.append(f'<text x="{LEFT - 6}" y="{TOP + row * ROW + 8}" font-size="8" text-anchor="end">{escape(name)}</text>')
    for kind, (colour, _) in one.kinds.items():
        lines.append(f'<g fill="{colour}" stroke="white" stroke-width="0.4">')
        for bar in one.bars:
            if bar.kind == kind:
                lines.append(f'<rect x="{LEFT + bar.start * scale:.2f}" y="{TOP + bar.row * ROW}"'
                             f' width="{(bar.end - bar.start) * scale:.2f}" height="{ROW - 1}"/>')
        lines.append("</g>")
    below = TOP + len(one.rows) * ROW
    lines.append(f'<path d="M{LEFT} {below + 3}h{WIDTH}" stroke="black"/>')
    for second in ticks(seconds):
        at = f"{LEFT + second * scale:.2f}"
        lines.append(f'<path d="M{at} {below + 3}v4" stroke="black"/>'
                     f'<text x="{at}" y="{below + 18}" text-anchor="middle">{second:g} s</text>')
    return "\n".join(lines)


def ticks(seconds: float) -> list[float]:
    """Round numbers from 0 to `seconds`, five to twelve of them."""
    step = 10.0 ** -6
    while True:
        for factor in (1, 2, 5):
            if seconds / (step * factor) <= 11:
                return [i * step * factor for i in range(int(seconds / (step * factor) + 1e-9) + 1)]
        step *= 10
