"""`heterodoop simulate`: a job of map tasks in virtual time, as text, JSON or a picture; the work is in `scheduler`."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import click

from ..errors import UsageError
from ..scheduler.compare import SPEEDUPS, Row, compare
from ..scheduler.policies import POLICIES, Policy
from ..scheduler.price import Price, parse
from ..scheduler.simulate import Besides, Conditions, Outcome, Shape
from ..scheduler.simulate import simulate as run
from ..scheduler.timeline import chart, svg

MOST_TASKS = 10_000_000


def simulate(
    *, policy: str | None, compare: bool, plot: str | None, price: str | None, as_json: bool, **options: Any,
) -> None:
    """See cli/simulate.py. Raises UsageError HD647, HD648."""
    rent = _price(price)
    picture = _picture(plot)
    conditions = _conditions(options)
    besides = _besides(options)
    if compare:
        if policy or plot or rent or any(besides):
            raise _wrong("--compare has no --policy, --plot, --price, --other-job and --gpu-down")
        _compare(conditions, as_json)
        return
    if plot and any(besides):
        raise _wrong("--plot draws one job on GPUs that work: without --other-job and --gpu-down")
    shape = _shape(options)
    outcomes = _run(shape, _policies(policy, shape), conditions, besides, spans=picture is not None)
    if picture is not None:
        _draw(picture, shape, outcomes)
    if as_json:
        click.echo(json.dumps(_json(shape, conditions, besides, outcomes, rent), indent=1))
    else:
        _print(shape, besides, outcomes, rent)


def _price(text: str | None) -> Price | None:
    try:
        return parse(text) if text is not None else None
    except ValueError as error:
        raise _wrong(str(error)) from None


def _cost(shape: Shape, outcome: Outcome, rent: Price) -> float:
    """cpu-only needs no GPUs."""
    gpus = 0 if outcome.policy == "cpu-only" else shape.gpus
    return shape.nodes * rent.of(shape.cpu_slots, gpus, outcome.makespan)


def _shape(options: dict[str, Any]) -> Shape:
    for name in ("speedup", "gpu_seconds"):
        if not 0 < options[name] < 1e9:
            raise _wrong(f"--{name.replace('_', '-')} {options[name]:g} is not more than 0")
    for name in ("nodes", "tasks", "gpus", "cpu_slots"):
        least = 1 if name in ("nodes", "tasks") else 0
        if not least <= options[name] <= MOST_TASKS:
            raise _wrong(f"--{name.replace('_', '-')} {options[name]} is not from {least} to {MOST_TASKS}")
    gpu = options["gpu_seconds"]
    return Shape(options["nodes"], options["gpus"], options["cpu_slots"], options["tasks"], gpu * options["speedup"], gpu)


def _conditions(options: dict[str, Any]) -> Conditions:
    heartbeat, jitter = options["heartbeat"], options["jitter"]
    if heartbeat is None:
        heartbeat = options["gpu_seconds"] / 10 if options["jobtracker_cap"] else 0.0
    elif not 0 < heartbeat < 1e9:
        raise _wrong(f"--heartbeat {heartbeat:g} is not more than 0")
    if not 0 <= jitter < 1:
        raise _wrong(f"--jitter {jitter:g} is not from 0 to less than 1")
    return Conditions(heartbeat, options["jobtracker_cap"], jitter, options["learn"], options["seed"])


def _besides(options: dict[str, Any]) -> Besides:
    jobs, down = tuple(options["other_jobs"]), options["gpu_down"]
    for tasks in jobs:
        if not 1 <= tasks <= MOST_TASKS:
            raise _wrong(f"--other-job {tasks} is not from 1 to {MOST_TASKS}")
    if down and not 0 <= down[0] < down[1] < 1e9:
        raise _wrong(f"--gpu-down {down[0]:g} {down[1]:g}: the first must be at least 0, and less than the second")
    return Besides(jobs, down)


def _policies(name: str | None, shape: Shape) -> list[Policy]:
    """The one that is named, or all that can run something (gpu-only is of no use to compare with)."""
    if name is None:
        names = ["cpu-only"] if not shape.gpus else ["gpu-first", "tail", "paper-tail"]
        return [POLICIES[one] for one in (["cpu-only", *names] if shape.cpu_slots and shape.gpus else names)]
    if name not in POLICIES:
        raise UsageError(f"there is no policy {name!r}", code="HD647", help=f"one of {', '.join(sorted(POLICIES))}")
    return [POLICIES[name]]


def _run(
    shape: Shape, policies: list[Policy], conditions: Conditions, besides: Besides, *, spans: bool,
) -> list[Outcome]:
    try:
        return [run(shape, policy, conditions, besides, spans=spans) for policy in policies]
    except ValueError:
        raise _wrong("nothing can run a task there: no CPU slot, and no GPU that the policy uses") from None


def _print(shape: Shape, besides: Besides, outcomes: list[Outcome], rent: Price | None) -> None:
    click.echo(
        f"{_count(shape.nodes, 'node')} with {_count(shape.gpus, 'GPU')} and {_count(shape.cpu_slots, 'CPU slot')} each;"
        f" {_count(shape.tasks, 'map task')} of {shape.cpu_seconds:g} s on a CPU slot, {shape.gpu_seconds:g} s on a GPU")
    for tasks in besides.jobs:
        click.echo(f"another job of {_count(tasks, 'map task')}")
    if besides.down:
        click.echo(f"the first GPU is out of service from {_seconds(besides.down[0])} to {_seconds(besides.down[1])}")
    click.echo(f"{'policy':<12}{'makespan':>10}{'on GPUs':>10}{'forced':>8}{'GPUs busy':>11}{'CPU slots busy':>16}"
               + (f"{'cost':>10}" if rent else ""))
    for one in outcomes:
        cost = f"{_cost(shape, one, rent):>11.4g}" if rent else ""
        click.echo(
            f"{one.policy:<12}{_seconds(one.makespan):>10}{one.on_gpus:>10}{one.forced:>8}"
            f"{one.gpus_busy:>10.0%} {one.cpus_busy:>15.0%}{cost}{_ends(one, besides)}")


def _ends(outcome: Outcome, besides: Besides) -> str:
    """When each of several jobs ends."""
    return f"   jobs end at {', '.join(map(_seconds, outcome.ends))}" if besides.jobs else ""


def _count(number: int, name: str) -> str:
    return f"{number} {name}{'' if number == 1 else 's'}"


def _seconds(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") + " s"


def _json(
    shape: Shape, conditions: Conditions, besides: Besides, outcomes: list[Outcome], rent: Price | None,
) -> dict[str, Any]:
    return {
        "shape": {**shape._asdict(), "speedup": shape.speedup}, "besides": besides._asdict(),
        "conditions": conditions._asdict(),
        "outcomes": [
            {**{name: value for name, value in one._asdict().items() if name != "spans"},
             **({"cost": _cost(shape, one, rent)} if rent else {})} for one in outcomes],
    }


def _compare(conditions: Conditions, as_json: bool) -> None:
    rows = compare(SPEEDUPS, conditions)
    if as_json:
        click.echo(json.dumps([row._asdict() for row in rows], indent=1))
        return
    click.echo("Seconds, a GPU task taking 1 s. gain: gpu-first by tail.")
    click.echo(f"{'cluster':<10}{'tasks':>6}{'speedup':>9}{'cpu-only':>10}{'gpu-first':>11}{'tail':>8}{'forced':>8}{'gain':>7}")
    for row in rows:
        click.echo(_row(row))
    gains = [row.gpu_first / row.tail for row in rows]
    mean = math.exp(sum(map(math.log, gains)) / len(gains))
    click.echo(f"gain: {min(gains):.2f} to {max(gains):.2f}, geometric mean {mean:.2f}")


def _row(row: Row) -> str:
    return (
        f"{row.cluster:<10}{row.tasks:>6}{row.speedup:>9}{row.cpu_only:>10.4g}{row.gpu_first:>11.4g}{row.tail:>8.4g}"
        f"{row.forced:>8}{row.gpu_first / row.tail:>7.2f}")


def _picture(plot: str | None) -> Path | None:
    if plot is None:
        return None
    path = Path(plot)
    if path.suffix != ".svg":
        raise UsageError(f"{plot} does not end in .svg", code="HD648")
    return path


def _draw(path: Path, shape: Shape, outcomes: list[Outcome]) -> None:
    charts = [chart(shape, outcome) for outcome in outcomes]
    try:
        path.write_text(svg(charts), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}", code="HD648") from None


def _wrong(what: str) -> UsageError:
    return UsageError(what, code="HD647", help="heterodoop simulate --help")
