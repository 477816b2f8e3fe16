"""What bounded a job, in a sentence, and what would help: read from where the seconds of its slots went."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from .attempts import Bar, Job, stages_of

# What an attempt does in a stage, and what helps where most of the time goes there.
STAGES = {
    "read": ("reading its input", "faster storage; for GPUs more of heterodoop.gpu.ingest.threads"),
    "feed": ("handing records to filters", "a directive, which makes kernels of them (`heterodoop explain --why-not-gpu`)"),
    "wait": ("waiting for its filters", "a program that does less per record, or a directive that makes a kernel of it"),
    "collect": ("sorting out what filters printed", "a combiner, or fewer and shorter pairs"),
    "combine": ("combining", "a combiner that is a key loop (`heterodoop explain`)"),
    "finish": ("sorting and writing its result", "a combiner, more mapreduce.task.io.sort.mb, or fewer pairs"),
    "copy_in": ("waiting for its input on the way to the device", "nothing: the link is the bound"),
    "index": ("finding records", "longer records, if they are yours to choose"),
    "stage": ("laying out records", "nothing of the job's: records of like lengths are quickest"),
    "map": ("the map's kernel", "a program that does less per record; more GPUs"),
    "sort": ("sorting on the device", "a combiner, or fewer pairs"),
    "device_combine": ("the combiner's kernel", "fewer pairs for each key"),
    "gather": ("putting pairs together", "a combiner, or shorter pairs"),
    "copy_out": ("bringing its result back", "a combiner, or fewer pairs"),
    "write": ("writing its result", "a combiner, fewer pairs, or faster storage"),
    "shuffle": ("fetching map output", "a combiner, compressed map output, or earlier reducers"),
    "merge": ("merging map output", "a combiner, or more memory for reducers"),
    "reduce": ("the reducer and its output", "more reducers (`-r`), or a reducer that is a key loop"),
}
SIDES = {"GPU": "GPUs'", "CPU": "CPU slots'", "emulated": "emulated device's", "container": "containers'"}
# Shares of the whole from which on something is what bounded the job.
MOSTLY_OUTSIDE, LONG_TAIL, IDLE = 0.4, 0.3, 0.5


@dataclass(frozen=True)
class Verdict:
    """`sentence` for a person; `helps`: what would make the job quicker, the most useful first."""

    sentence: str
    helps: tuple[str, ...]


def of(job: Job) -> Verdict:
    """The first of these that is so: the job failed; it was short; one task was; slots idled; the largest stage."""
    if job.report.get("state") != "succeeded":
        return Verdict(f"The job did not succeed: {job.report.get('error') or job.report.get('state')}.", ())
    if not job.bars:
        return Verdict("The job had no tasks.", ())
    return _outside(job) or _tail(job) or _idle(job) or _stage(job)


def _outside(job: Job) -> Verdict | None:
    """Time in which no attempt ran."""
    quiet = job.seconds - _covered(job.bars)
    if quiet < MOSTLY_OUTSIDE * job.seconds:
        return None
    return Verdict(
        f"Start and end: for {_percent(quiet, job.seconds)} of the job's {job.seconds:.2f} s no task ran.",
        ("larger inputs in one job", "`heterodoop driver start`, which keeps GPUs awake between jobs"),
    )


def _covered(bars: tuple[Bar, ...]) -> float:
    """Seconds in which some attempt ran."""
    total = until = 0.0
    for bar in sorted(bars, key=lambda bar: bar.start):
        total += max(0.0, bar.end - max(bar.start, until))
        until = max(until, bar.end)
    return total


def _tail(job: Job) -> Verdict | None:
    """The time in which the last attempt of a phase ran alone."""
    for kind in ("map", "reduce"):
        bars = sorted((bar for bar in job.bars if bar.kind == kind), key=lambda bar: bar.end)
        if len(bars) < 2 or len({bar.row for bar in bars}) < 2:
            continue
        last, before = bars[-1], bars[-2]
        alone = last.end - max(before.end, last.start)
        if alone >= LONG_TAIL * job.seconds:
            helps = ("smaller splits (`--split-size`)",) if kind == "map" else ("more reducers (`-r`), if keys are even",)
            return Verdict(
                f"One task: {last.name} on {job.rows[last.row].name} ran alone for {_percent(alone, job.seconds)} of the "
                f"job's {job.seconds:.2f} s.", (*helps, "`--policy tail`, which begins such tasks elsewhere too"))
    return None


def _idle(job: Job) -> Verdict | None:
    """Slots without tasks, while others had some."""
    busy = sum(bar.seconds for bar in job.bars)
    room = len(job.rows) * _covered(job.bars)
    if len(job.rows) < 2 or room - busy < IDLE * room:
        return None
    return Verdict(
        f"Too few tasks: slots were idle for {_percent(room - busy, room)} of the time in which tasks ran.",
        ("smaller splits (`--split-size`), more reducers (`-r`)",),
    )


def _stage(job: Job) -> Verdict:
    """The stage that took most of the side that did most of the map's input; of the reducers, where they took longer."""
    kind = max(("map", "reduce"), key=lambda kind: sum(bar.seconds for bar in job.bars if bar.kind == kind))
    bars = [bar for bar in job.bars if bar.kind == kind]
    done: Counter[str] = Counter()
    for bar in bars:
        done[job.rows[bar.row].kind] += bar.input_bytes or 1
    side = done.most_common(1)[0][0]
    spent: Counter[str] = Counter()
    for bar in bars:
        if job.rows[bar.row].kind == side:
            spent.update(stages_of(bar))
    if not spent:
        return Verdict(f"The {kind} tasks.", ())
    stage, seconds = spent.most_common(1)[0]
    what, help = STAGES.get(stage, (stage, ""))
    share = _percent(seconds, sum(spent.values()))
    sentence = f"{what[0].upper()}{what[1:]}: {share} of the {SIDES.get(side, side)} time in {kind} tasks."
    return Verdict(sentence, (help,) if help else ())


def _percent(part: float, whole: float) -> str:
    return f"{100 * part / whole:.0f} %" if whole > 0 else "0 %"
