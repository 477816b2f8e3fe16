"""One map task on a GPU, warm, against one on a CPU core: bytes of input per second of the whole task, and its stages.

    python bench/gpu_task.py [--sizes 64m,1g] [--runs 7] [--only wordcount,grep,paper,items] [--cpu-size 64m] [--json FILE]

A task reads its split from the page cache and writes its output file. The device stays open, as it does in a job; each
figure is the median of the runs after two that warm up. The outputs of both sides are compared. Needs a GPU and nvcc;
`--device emulated` tries the script out.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "bench")]

import contenders  # noqa: E402
import data  # noqa: E402
import measure  # noqa: E402

from heterodoop import manifest, toolchain_cuda  # noqa: E402
from heterodoop.compiler.optimisations import chosen  # noqa: E402
from heterodoop.engine.layout import Layout  # noqa: E402
from heterodoop.engine.plan import Plan, RunOptions, make_plan  # noqa: E402
from heterodoop.executor import cpu_task, cuda, emulated, gpu_task  # noqa: E402
from heterodoop.executor.native import Native, Progress  # noqa: E402
from heterodoop.executor.native_device import NativeDevice  # noqa: E402
from heterodoop.executor.prologue import Prologues  # noqa: E402
from heterodoop.executor.report import AttemptResult  # noqa: E402
from heterodoop.executor.streaming_env import TaskNames  # noqa: E402

WARM_UP = 2


@dataclass
class Row:
    """A measured task. `stages`: seconds of the median run, those of 0.1 ms and more."""

    what: str
    size: int
    seconds: float
    stages: dict[str, float] = field(default_factory=dict)
    note: str = ""

    @property
    def rate(self) -> float:
        return self.size / self.seconds / 1e9

    def text(self) -> str:
        stages = ", ".join(f"{name} {seconds * 1e3:.1f}" for name, seconds in self.stages.items())
        size = f"{self.size / 2**20:g} MiB"
        return f"| {self.what} | {size} | {self.seconds * 1e3:.1f} | {self.rate:.3g} | {stages} | {self.note} |"


@dataclass(frozen=True)
class Bench:
    native: Native
    scratch: Path
    device: str
    runs: int

    def bundle(self, app: str, *options: str) -> Path:
        name = "-".join([app, *(o.strip("-") for o in options)])
        arch = [] if self.device == "cuda" else ["--arch", "none"]
        return contenders.compiled(ROOT / "apps" / app, self.scratch / f"{name}.hdp", *arch, *options)

    def plan(self, bundle: Path, text: Path, settings: Sequence[str]) -> Plan:
        layout = Layout(self.scratch / "out")
        return make_plan(bundle, [str(text)], layout, RunOptions(split_size=1 << 40, settings=settings, device="cpu"))

    def place(self, plan: Plan, side: str) -> tuple[cpu_task.Place, Path, Path]:
        folder = self.scratch / f"task-{side}"
        for name in ("work", "tmp", "out"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        names = TaskNames(plan.job_id, True, 0, 0, folder / "out", folder / "tmp", plan.splits[0])
        return cpu_task.Place(folder / "work", folder / "tmp", folder / "log", names), folder / "file.out", folder / "index"

    @contextmanager
    def opened(self) -> Iterator[tuple[NativeDevice, str]]:
        if self.device == "emulated":
            with closing(emulated.EmulatedDevice(self.native, emulated.runtime_module())) as device:
                yield device, ""
            return
        arch = toolchain_cuda.of_this_machine()[0]
        library, runtimes = cuda.device_library([arch])
        with closing(cuda.CudaDevice(self.native, runtimes[arch], library=library)) as opened:
            yield opened, arch

    def on_device(self, what: str, bundle: Path, text: Path, settings: Sequence[str] = ()) -> tuple[Row, AttemptResult]:
        plan, found = self.plan(bundle, text, settings), manifest.load(bundle)
        place, out, index = self.place(plan, "device")
        with self.opened() as (device, arch):
            code = emulated.device_code(bundle, found) if not arch else cuda.device_code(bundle, found, arch)
            assert code is not None, f"{bundle} has no kernels for {arch or 'the emulated device'}"
            run = cpu_task.MapRun(plan.cpu, plan.splits[0], place, out, index)
            prologues = Prologues(self.native)
            taken: list[tuple[float, AttemptResult]] = []
            for _ in range(WARM_UP + self.runs):
                out.unlink(missing_ok=True)  # as in a job; some file systems flush a file that is replaced
                begin = time.perf_counter()
                result = gpu_task.run_map(device, code, prologues, self.native, run, Progress())
                taken.append((time.perf_counter() - begin, result))
                assert not result.failure and not result.reason, result
        timed = sorted(taken[WARM_UP:], key=lambda pair: pair[0])
        seconds, result = timed[len(timed) // 2]
        stages = {name: s for name, s in result.seconds.items() if s >= 1e-4 and name != "total"}
        return Row(what, text.stat().st_size, seconds, stages), result

    def on_cpu(self, what: str, bundle: Path, text: Path, settings: Sequence[str] = ()) -> tuple[Row, AttemptResult]:
        plan = self.plan(bundle, text, settings)
        place, out, index = self.place(plan, "cpu")
        begin = time.perf_counter()
        result = cpu_task.run_map(self.native, plan.cpu, plan.splits[0], place, out, index, Progress())
        return Row(what, text.stat().st_size, time.perf_counter() - begin), result

    def check(self) -> None:
        one, other = (self.scratch / f"task-{side}" / "file.out" for side in ("device", "cpu"))
        if one.read_bytes() != other.read_bytes():
            raise SystemExit(f"{one} and {other} differ")


def link_ceiling(scratch: Path) -> float:
    nvcc = toolchain_cuda.find_nvcc()
    if nvcc is None:
        raise SystemExit("there is no nvcc")
    program = scratch / "link"
    subprocess.run([str(nvcc.path), "-O2", "-o", str(program), str(ROOT / "bench" / "link.cu")], check=True)
    return float(subprocess.run([str(program)], check=True, capture_output=True, text=True).stdout)


def apps(bench: Bench, options: argparse.Namespace) -> Iterator[Row]:
    """Word count and grep at each size, and one CPU task of each."""
    for app in ("wordcount", "grep"):
        if app not in options.only:
            continue
        small = data.cached(options.cpu_size, 1)
        settings = [f"grep.pattern={contenders.rare_word(small)}"] if app == "grep" else []
        cpu, _ = bench.on_cpu(f"{app}, one CPU task", bench.bundle(app), small, settings)
        bench.on_device(app, bench.bundle(app), small, settings)
        bench.check()
        yield cpu
        for size in options.sizes:
            row, _ = bench.on_device(app, bench.bundle(app), data.cached(size, 1), settings)
            row.note = f"{row.rate / cpu.rate:.0f} x one CPU task"
            yield row


def sets(bench: Bench, options: argparse.Namespace) -> Iterator[Row]:
    """The paper's set and, with `items`, each set without each of its items: word count of the largest size."""
    text = data.cached(max(options.sizes), 1)
    for name in ("default", "paper"):
        whole = [] if name == "default" else ["--opt", "paper"]
        if name == "paper" and "paper" in options.only:
            yield bench.on_device("wordcount, --opt paper", bench.bundle("wordcount", *whole), text)[0]
        for item in chosen(name) if "items" in options.only else ():
            what = f"wordcount, {name} without {item}"
            yield bench.on_device(what, bench.bundle("wordcount", *whole, "--no-opt", item), text)[0]


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=lambda text: [data.parse_size(s) for s in text.split(",")], default="64m,1g")
    parser.add_argument("--cpu-size", type=data.parse_size, default="64m", help="text of the CPU's task (default 64m)")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--only", type=lambda text: text.split(","), default="wordcount,grep,paper")
    parser.add_argument("--device", choices=["cuda", "emulated"], default="cuda")
    parser.add_argument("--json", type=Path, help="where the rows go as JSON")
    return parser.parse_args()


def main() -> None:
    options = parse_arguments()
    with tempfile.TemporaryDirectory(prefix="gpu-task-") as folder:
        bench = Bench(Native.load(), Path(folder), options.device, options.runs)
        facts: dict[str, Any] = {**measure.machine(), "command": " ".join(["python", *sys.argv])}
        if options.device == "cuda":
            facts["GPU"] = ", ".join(toolchain_cuda.of_this_machine())
            facts["link, GB/s"] = link_ceiling(bench.scratch)
        print("| task | input | ms | GB/s | stages, ms | |\n|---|---:|---:|---:|---|---|")
        rows = []
        for part in (apps, sets):
            for row in part(bench, options):
                rows.append(row)
                print(row.text(), flush=True)
    print("\n" + "".join(f"- {name}: {value}\n" for name, value in facts.items()), end="")
    if options.json:
        listed = [{"what": r.what, "bytes": r.size, "seconds": r.seconds, "stages": r.stages} for r in rows]
        options.json.write_text(json.dumps({"machine": facts, "rows": listed}, indent=1) + "\n")


if __name__ == "__main__":
    main()
