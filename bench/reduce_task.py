"""One reduce task of word count over the outputs of many map tasks: the merge and the filter against the host kernel.

    python -m bench.reduce_task [--size 512m] [--splits 64] [--runs 5] [--threads 1,2,4]

The map tasks run once, as host kernels, and their outputs are kept; then the task runs each way in turn, and the outputs are
compared. `--app FOLDER` takes another app that reads words.
"""

from __future__ import annotations

import argparse
import filecmp
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from heterodoop import manifest
from heterodoop.engine.job.layout import Layout
from heterodoop.engine.run.plan import Plan, RunOptions, make_plan
from heterodoop.engine.run.shuffle import Shuffle
from heterodoop.executor.kernel.host_kernel import HostMaps
from heterodoop.executor.kernel.host_reduce import HostReduces
from heterodoop.executor.kernel.prologue import Prologues
from heterodoop.executor.native.runtime import Native, Progress, Segment
from heterodoop.executor.task import cpu_task
from heterodoop.executor.task.report import AttemptResult
from heterodoop.executor.task.streaming_env import TaskNames
from heterodoop.job.spec import JobSpec

from . import data, measure
from .measure import Contender

ROOT = Path(__file__).resolve().parent.parent


def place(plan: Plan, folder: Path, number: int, *, map: bool) -> cpu_task.Place:
    shutil.rmtree(folder, ignore_errors=True)
    for name in ("work", "tmp", "out"):
        (folder / name).mkdir(parents=True)
    split = plan.splits[number] if map else None
    names = TaskNames(plan.job_id, map, number, 0, folder / "out", folder / "tmp", split)
    return cpu_task.Place(folder / "work", folder / "tmp", folder / "log", names)


def segments(plan: Plan, native: Native, folder: Path) -> list[Segment]:
    """Partition 0 of all map tasks."""
    assert plan.host is not None
    maps, shuffle = HostMaps(plan.host, native, Prologues(native)), Shuffle()

    def one(number: int) -> AttemptResult:
        out, index = folder / f"{number}.out", folder / f"{number}.index"
        at = place(plan, folder / f"m{number}", number, map=True)
        return maps.run_map(cpu_task.MapRun(plan.cpu, plan.splits[number], at, out, index), Progress())

    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for number, result in enumerate(pool.map(one, range(len(plan.splits)))):
            assert result.output is not None and result.host, result
            shuffle.add(number, result.output)
    return shuffle.segments(0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=data.parse_size, default="512m")
    parser.add_argument("--splits", type=int, default=64)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--threads", type=lambda text: [int(n) for n in text.split(",")], default="1,2")
    parser.add_argument("--app", type=Path, default=ROOT / "apps" / "wordcount")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="reduce-task-") as name:
        folder = Path(name)
        bundle = folder / "app.hdp"
        argv = [sys.executable, "-m", "heterodoop", "compile", options.app, "-o", bundle, "--arch", "none"]
        subprocess.run([str(word) for word in argv], check=True, stdout=subprocess.DEVNULL)
        text = data.cached(options.size, 1)
        layout = Layout(folder / "out")
        given = RunOptions(split_size=options.size // options.splits, reducers=1)
        plan = make_plan(JobSpec.of(bundle, [str(text)], str(layout.output), given), layout, given)
        native = Native.load()
        given = segments(plan, native, folder)
        program = bundle / (manifest.load(bundle).program("reduce").host.binary)  # type: ignore[union-attr]
        results: dict[str, AttemptResult] = {}

        def by_filter() -> None:
            at = place(plan, folder / "filter", 0, map=False)
            results["filter"] = cpu_task.run_reduce(native, plan.cpu, given, at, folder / "filter.txt", Progress())

        def by_host(threads: int) -> None:
            at, out = place(plan, folder / "host", 0, map=False), folder / f"host{threads}.txt"
            done = HostReduces(program, native, threads).run_alone(plan.cpu, given, at, out, Progress())
            assert isinstance(done, AttemptResult) and not done.failure, done
            results[f"host {threads}"] = done
            assert filecmp.cmp(out, folder / "filter.txt", shallow=False)

        ways = [Contender("merge and filter", by_filter)]
        ways += [Contender(f"host kernel, {n} threads", lambda n=n: by_host(n)) for n in options.threads]  # type: ignore[misc]
        measure.interleave(ways, options.runs, lambda text: print(text, file=sys.stderr))
        counters = results["filter"].counters
        assert all(result.counters == counters for result in results.values()), results
        nbytes = sum(segment.raw_length for segment in given)
        print(f"{len(given)} segments, {nbytes / 1e6:.0f} MB, {counters['REDUCE_INPUT_RECORDS']} pairs, "
              f"{counters['REDUCE_INPUT_GROUPS']} keys\n\n| way | seconds | ratio |\n|---|---:|---:|")
        for way in ways:
            print(f"| {way.name} | {way.median:.3f} | {ways[0].median / way.median:.2f} |")
        for name, result in results.items():
            stages = ", ".join(f"{stage} {seconds:.3f}" for stage, seconds in result.seconds.items() if seconds > 0.0005)
            print(f"\n{name}, the last run: {stages}")
    facts = {**measure.machine(), "command": measure.command()}
    print("\n" + "".join(f"- {name}: {value}\n" for name, value in facts.items()), end="")


if __name__ == "__main__":
    main()
